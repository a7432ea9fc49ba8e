// Print the chunks of two documents: node segment.js http://127.0.0.1:8000 [key]

type Format = "text" | "markdown" | "html";

interface Document {
  text: string;
  id?: string | null;
  columns?: Record<string, unknown>;
}

interface SegmentRequest {
  documents: (string | Document)[];
  options?: Record<string, unknown>;
  format?: Format;
}

// A chunk has further columns; docs/chunks.md lists them.
interface Chunk {
  text: string;
  start: number;
  end: number;
  tokens: number;
}

interface SegmentedDocument {
  id: string | null;
  chunks: Chunk[];
}

interface RowFailure {
  document: number;
  reason: string;
}

interface SegmentAnswer {
  documents: SegmentedDocument[];
  errors: RowFailure[];
  metadata: Record<string, unknown>;
}

interface Failure {
  error: { message: string; path?: string; request: string };
}

export {}; // makes this a module, so that Document is no type of the DOM
declare const process: { argv: string[] };

async function segment(url: string, request: SegmentRequest, key?: string): Promise<SegmentAnswer> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (key) headers["Authorization"] = `Bearer ${key}`;
  const response = await fetch(`${url}/v1/segment`, { method: "POST", headers, body: JSON.stringify(request) });
  if (!response.ok) {
    const { error } = (await response.json()) as Failure;
    throw new Error(`${response.status}: ${error.path ?? ""} ${error.message}`);
  }
  return (await response.json()) as SegmentAnswer;
}

async function main(url: string, key?: string): Promise<void> {
  const answer = await segment(
    url,
    {
      documents: [
        { id: "cats", text: "Cats purr. 🐈 Dogs bark." },
        { id: "stars", text: "# Stars\n\nStars burn hydrogen." },
      ],
      options: { method: "sentence" },
      format: "markdown",
    },
    key,
  );
  for (const document of answer.documents) {
    for (const chunk of document.chunks) console.log(document.id, chunk.start, chunk.end, JSON.stringify(chunk.text));
  }
}

main(process.argv[2], process.argv[3]);
