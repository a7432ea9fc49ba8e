// The chunk pipeline for Python: arguments checked and viewed, the GIL released, one call, columns back.
#include <map>

#include "bindings.h"
#include "pipeline.h"

namespace pychunk {
namespace {

template <typename T>
T named(const std::map<std::string, T>& names, const py::dict& options, const char* key) {
  const auto value = options[key].cast<std::string>();
  const auto found = names.find(value);
  PYCHUNK_CHECK(found != names.end(), "unknown ", key, " '", value, "'");
  return found->second;
}

// From the fields of pychunk.plan.Plan.
Plan plan_from(const py::dict& options) {
  Plan plan;
  plan.method = named<Method>({{"sentence", Method::kSentence},
                               {"paragraph", Method::kParagraph},
                               {"page", Method::kPage},
                               {"fixed", Method::kFixed},
                               {"recursive", Method::kRecursive},
                               {"semantic", Method::kSemantic},
                               {"cluster", Method::kCluster},
                               {"pic", Method::kPic},
                               {"nsp", Method::kNsp}},
                              options, "method");
  plan.wrap = options["wrap"].cast<bool>() ? Wrap::kAuto : Wrap::kOff;
  plan.unit = unit_from(options["unit"].cast<std::string>());
  plan.size = options["size"].cast<int64_t>();
  plan.separators = options["separators"].cast<std::vector<std::string>>();
  plan.threshold = named<ThresholdKind>({{"value", ThresholdKind::kValue},
                                         {"percentile", ThresholdKind::kPercentile},
                                         {"std", ThresholdKind::kStd},
                                         {"iqr", ThresholdKind::kIqr},
                                         {"gradient", ThresholdKind::kGradient}},
                                        options, "threshold");
  plan.threshold_value = options["threshold_value"].cast<double>();
  plan.window = options["window"].cast<int64_t>();
  plan.summary = named<SummarySource>({{"given", SummarySource::kGiven},
                                       {"mean", SummarySource::kMean},
                                       {"lead", SummarySource::kLead},
                                       {"extractive", SummarySource::kExtractive},
                                       {"random", SummarySource::kRandom},
                                       {"sentence", SummarySource::kSentence}},
                                      options, "summary");
  plan.k = options["k"].cast<double>();
  plan.max_tokens = options["max_tokens"].cast<int64_t>();
  plan.min_tokens = options["min_tokens"].cast<int64_t>();
  plan.overlap = options["overlap"].cast<int64_t>();
  plan.chunk_vectors = options["chunk_vectors"].cast<bool>();
  plan.sentence_vectors = options["sentence_vectors"].cast<bool>();
  return plan;
}

// The weights of a pair head, kept alive together.
struct KeptHead {
  Array<float> first, second, product, bias, out;
  PairHead head;
  KeptHead(Array<float> a, Array<float> b, Array<float> c, Array<float> offset, Array<float> output, float out_bias)
      : first(std::move(a)),
        second(std::move(b)),
        product(std::move(c)),
        bias(std::move(offset)),
        out(std::move(output)),
        head{matrix(first, "first"),
             matrix(second, "second"),
             matrix(product, "product"),
             view(bias),
             view(out),
             out_bias} {
    for (const auto& part : {head.first, head.second, head.product})
      PYCHUNK_CHECK(part.rows == bias.size() && part.cols == head.first.cols && bias.size() == out.size(),
                    "the parts of a pair head must be [hidden, dim] and [hidden]");
  }
};

// What Python hands over, kept alive for the call.
struct Arguments {
  Array<uint8_t> text;
  Array<int64_t> offsets;
  Plan plan;
  const WordPiece* tokenizer;
  Optional<int8_t> table;
  Optional<uint8_t> id_text;
  Optional<int64_t> id_offsets, sentence_starts, sentence_offsets;
  Optional<float> vectors;
  Optional<int64_t> vector_offsets;
  Optional<float> table_vectors;
  Optional<int64_t> table_vector_offsets;
  Optional<float> pair_scores;
  Optional<int64_t> pair_offsets;
  const KeptHead* pair_head;
  Optional<uint8_t> summary_text;
  Optional<int64_t> summary_offsets;
  Optional<float> summary_vectors, summary_scores;
  Optional<int8_t> summary_labels;
  Optional<int64_t> score_offsets, page_starts, page_offsets;
  Optional<uint8_t> fallback;
  int64_t first_row;
  int threads;

  Inputs inputs() const {
    Inputs in;
    in.texts = texts(text, offsets);
    in.plan = &plan;
    in.tokenizer = tokenizer;
    in.first_row = first_row;
    in.threads = threads;
    const int64_t k = in.texts.size();
    const auto one_each = [&](int64_t got, const char* name) {
      PYCHUNK_CHECK(got == k, name, " must hold one entry for each of ", k, " documents, got ", got);
    };
    if (table) {
      in.table = matrix(*table, "table");
      PYCHUNK_CHECK(tokenizer != nullptr, "a table needs a tokenizer");
      PYCHUNK_CHECK(in.table.rows >= tokenizer->vocabulary_size(), "the table must have a row for each of ",
                    tokenizer->vocabulary_size(), " tokens, got ", in.table.rows);
    }
    if (fallback) {
      PYCHUNK_CHECK(tokenizer != nullptr && fallback->size() >= tokenizer->vocabulary_size(),
                    "fallback must hold a flag for each token, got ", fallback->size());
      in.fallback = view(*fallback);
    }
    if (id_text) {
      in.ids = texts(*id_text, *id_offsets);
      one_each(in.ids.size(), "ids");
    }
    if (sentence_starts) {
      check_offsets(view(*sentence_offsets), sentence_starts->size(), "sentence_spans");
      in.sentence_starts = {view(*sentence_starts), view(*sentence_offsets)};
      one_each(in.sentence_starts.size(), "sentence_spans");
    }
    const auto rows_of = [&](const Optional<float>& given, const Optional<int64_t>& offsets, const char* name,
                             Matrix<const float>& rows, std::span<const int64_t>& where) {
      if (!given) return;
      PYCHUNK_CHECK(offsets.has_value(), name, " need their offsets");
      rows = matrix(*given, name), where = view(*offsets);
      check_offsets(where, rows.rows, name);
      one_each(static_cast<int64_t>(where.size()) - 1, name);
    };
    rows_of(vectors, vector_offsets, "sentence_vectors", in.vectors, in.vector_offsets);
    rows_of(table_vectors, table_vector_offsets, "table_vectors", in.table_vectors, in.table_vector_offsets);
    if (pair_scores) {
      check_offsets(view(*pair_offsets), pair_scores->size(), "pair_scores");
      in.pair_scores = {view(*pair_scores), view(*pair_offsets)};
      one_each(in.pair_scores.size(), "pair_scores");
    }
    if (pair_head != nullptr) {
      PYCHUNK_CHECK(pair_head->head.first.cols == in.table.cols, "the pair head is for vectors of ",
                    pair_head->head.first.cols, " dimensions, the table has ", in.table.cols);
      in.pair_head = &pair_head->head;
    }
    PYCHUNK_CHECK(plan.method != Method::kNsp || pair_scores || (pair_head != nullptr && table),
                  "nsp needs pair_scores, or a pair head with a table");
    if (summary_text) {
      in.summaries = texts(*summary_text, *summary_offsets);
      one_each(in.summaries.size(), "summaries");
    }
    if (summary_vectors) {
      in.summary_vectors = matrix(*summary_vectors, "summaries");
      one_each(in.summary_vectors.rows, "summaries");
      const int64_t dim = vectors ? in.vectors.cols : in.table.cols;
      PYCHUNK_CHECK(in.summary_vectors.cols == dim, "summaries must have ", dim,
                    " columns, as the sentence vectors, got ", in.summary_vectors.cols);
    }
    if (summary_scores) {
      check_offsets(view(*score_offsets), summary_scores->size(), "summary_scores");
      PYCHUNK_CHECK(summary_labels && summary_labels->size() == summary_scores->size(), "summary_labels must hold ",
                    summary_scores->size(), " entries");
      in.summary_scores = {view(*summary_scores), view(*score_offsets)};
      in.summary_labels = {view(*summary_labels), view(*score_offsets)};
      one_each(in.summary_scores.size(), "summary_scores");
    }
    if (page_starts) {
      check_offsets(view(*page_offsets), page_starts->size(), "page_starts");
      in.page_starts = {view(*page_starts), view(*page_offsets)};
      one_each(in.page_starts.size(), "page_starts");
    }
    const bool scored = plan.cuts_by_scores() && pair_scores && (plan.method != Method::kPic || summary_scores);
    const bool no_vectors = scored && !plan.chunk_vectors && !plan.sentence_vectors;
    PYCHUNK_CHECK(!plan.needs_vectors() || no_vectors || vectors || table || table_vectors,
                  "the plan needs sentence vectors or a table");
    PYCHUNK_CHECK(!tokens_are_counted(in) || tokenizer != nullptr, "the plan needs a tokenizer");
    return in;
  }
};

py::dict segment_batch(const Arguments& arguments) {
  const Inputs inputs = arguments.inputs();
  Table table = without_gil([&] { return segment(inputs); });
  const Matrix<const float>& shown = inputs.table_vectors.data != nullptr ? inputs.table_vectors : inputs.vectors;
  const int64_t dim = shown.data != nullptr ? shown.cols : inputs.table.cols;
  py::dict out;
  out["document"] = array(std::move(table.document));
  out["chunk"] = array(std::move(table.chunk));
  out["chunk_id"] = array(std::move(table.chunk_id));
  out["start"] = array(std::move(table.start));
  out["end"] = array(std::move(table.end));
  out["start_byte"] = array(std::move(table.start_byte));
  out["end_byte"] = array(std::move(table.end_byte));
  out["text"] = array(std::move(table.text));
  out["text_offsets"] = array(std::move(table.text_offsets));
  if (tokens_are_counted(inputs)) out["tokens"] = array(std::move(table.tokens));
  out["overlap"] = array(std::move(table.overlap));
  if (pages_are_counted(inputs)) {
    out["page"] = array(std::move(table.page));
    out["page_end"] = array(std::move(table.page_end));
  }
  out["kind"] = array(std::move(table.kind));
  out["score"] = array(std::move(table.score));
  if (inputs.plan->chunk_vectors) {
    const int64_t rows = dim == 0 ? 0 : table.chunk_vectors.size / dim;
    out["vector"] = array(std::move(table.chunk_vectors), {rows, dim});
  }
  if (inputs.plan->sentence_vectors) {
    const int64_t rows = table.sentence_start.size;
    out["sentence_offsets"] = array(std::move(table.sentence_offsets));
    out["sentence_start"] = array(std::move(table.sentence_start));
    out["sentence_end"] = array(std::move(table.sentence_end));
    out["sentence_vectors"] = array(std::move(table.sentence_vectors), {rows, dim});
  }
  out["tokens_met"] = table.tokens_met;
  out["fallback_tokens"] = table.fallback_tokens;
  return out;
}

Arguments gather(Array<uint8_t> text, Array<int64_t> offsets, const py::dict& plan, const WordPiece* tokenizer,
                 Optional<int8_t> table, Optional<uint8_t> id_text, Optional<int64_t> id_offsets,
                 Optional<int64_t> sentence_starts, Optional<int64_t> sentence_offsets, Optional<float> vectors,
                 Optional<int64_t> vector_offsets, Optional<float> table_vectors,
                 Optional<int64_t> table_vector_offsets, Optional<float> pair_scores, Optional<int64_t> pair_offsets,
                 const KeptHead* pair_head, Optional<uint8_t> summary_text, Optional<int64_t> summary_offsets,
                 Optional<float> summary_vectors, Optional<float> summary_scores, Optional<int8_t> summary_labels,
                 Optional<int64_t> score_offsets, Optional<int64_t> page_starts, Optional<int64_t> page_offsets,
                 Optional<uint8_t> fallback, int64_t first_row, int threads) {
  return {std::move(text),
          std::move(offsets),
          plan_from(plan),
          tokenizer,
          std::move(table),
          std::move(id_text),
          std::move(id_offsets),
          std::move(sentence_starts),
          std::move(sentence_offsets),
          std::move(vectors),
          std::move(vector_offsets),
          std::move(table_vectors),
          std::move(table_vector_offsets),
          std::move(pair_scores),
          std::move(pair_offsets),
          pair_head,
          std::move(summary_text),
          std::move(summary_offsets),
          std::move(summary_vectors),
          std::move(summary_scores),
          std::move(summary_labels),
          std::move(score_offsets),
          std::move(page_starts),
          std::move(page_offsets),
          std::move(fallback),
          first_row,
          threads};
}

}  // namespace

void bind_segment(py::module_& m) {
  py::class_<Arguments>(m, "Arguments", "Everything a call of segment() works on; see csrc/pipeline.h.")
      .def(py::init(&gather), py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("plan"),
           py::kw_only(), py::arg("tokenizer") = nullptr, py::arg("table").noconvert() = py::none(),
           py::arg("id_text").noconvert() = py::none(), py::arg("id_offsets").noconvert() = py::none(),
           py::arg("sentence_starts").noconvert() = py::none(), py::arg("sentence_offsets").noconvert() = py::none(),
           py::arg("vectors").noconvert() = py::none(), py::arg("vector_offsets").noconvert() = py::none(),
           py::arg("table_vectors").noconvert() = py::none(), py::arg("table_vector_offsets").noconvert() = py::none(),
           py::arg("pair_scores").noconvert() = py::none(), py::arg("pair_offsets").noconvert() = py::none(),
           py::arg("pair_head") = nullptr, py::arg("summary_text").noconvert() = py::none(),
           py::arg("summary_offsets").noconvert() = py::none(), py::arg("summary_vectors").noconvert() = py::none(),
           py::arg("summary_scores").noconvert() = py::none(), py::arg("summary_labels").noconvert() = py::none(),
           py::arg("score_offsets").noconvert() = py::none(), py::arg("page_starts").noconvert() = py::none(),
           py::arg("page_offsets").noconvert() = py::none(), py::arg("fallback").noconvert() = py::none(),
           py::arg("first_row") = 0, py::arg("threads") = 1, py::keep_alive<1, 5>(), py::keep_alive<1, 17>());
  py::class_<KeptHead>(m, "PairHead", "Next-sentence probabilities from static vectors; see csrc/pair_head.h.")
      .def(py::init<Array<float>, Array<float>, Array<float>, Array<float>, Array<float>, float>(),
           py::arg("first").noconvert(), py::arg("second").noconvert(), py::arg("product").noconvert(),
           py::arg("bias").noconvert(), py::arg("out").noconvert(), py::arg("out_bias"));
  m.def("segment", &segment_batch, py::arg("arguments"),
        "Columns of the chunk table of a batch, as arrays by name; text and chunk_id are flat bytes.");
  m.def(
      "adjacent_sums",
      [](const Arguments& arguments) {
        const Inputs inputs = arguments.inputs();
        const AdjacentSums sums = without_gil([&] { return adjacent_sums(inputs); });
        return py::make_tuple(sums.sum, sums.count);
      },
      py::arg("arguments"), "(sum, count) of the scores between neighbours of a batch, the sum in units of 2^-32.");
  m.def(
      "thresholds",
      [](const py::dict& plan, const Array<float>& scores, const Array<int64_t>& offsets, int threads) {
        check_offsets(view(offsets), scores.size(), "offsets");
        const Plan made = plan_from(plan);
        return array(without_gil([&] { return thresholds(made, {view(scores), view(offsets)}, threads); }));
      },
      py::arg("plan"), py::arg("scores").noconvert(), py::arg("offsets").noconvert(), py::arg("threads") = 1,
      "What each document's scores are held against, float64[k]; NaN where there is nothing.");
  m.def(
      "split_sentences",
      [](const Arguments& arguments) {
        const Inputs inputs = arguments.inputs();
        SentenceTable table = without_gil([&] { return split(inputs); });
        const int64_t n = table.flags.size;
        return py::make_tuple(array(std::move(table.spans), {n, 2}), array(std::move(table.doc_offsets)),
                              array(std::move(table.flags)));
      },
      py::arg("arguments"),
      "(spans int64[n, 2] in bytes, doc_offsets int64[k + 1], flags uint8[n]) of k documents; the text must be valid "
      "UTF-8.");
  m.def(
      "encode_static",
      [](const Array<uint8_t>& text, const Array<int64_t>& offsets, const WordPiece& tokenizer,
         const Array<int8_t>& table, int threads) {
        const Texts documents = texts(text, offsets);
        const Matrix<const int8_t> rows = matrix(table, "table");
        PYCHUNK_CHECK(rows.rows >= tokenizer.vocabulary_size(), "the table must have a row for each of ",
                      tokenizer.vocabulary_size(), " tokens, got ", rows.rows);
        return array(without_gil([&] { return encode_static(documents, tokenizer, rows, threads); }),
                     {documents.size(), rows.cols});
      },
      py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("tokenizer"), py::arg("table").noconvert(),
      py::arg("threads") = 1, "Unit vectors float32[k, dim] of k texts.");
}

}  // namespace pychunk
