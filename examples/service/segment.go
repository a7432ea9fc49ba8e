// Print the chunks of two documents: go run segment.go http://127.0.0.1:8000 [key]
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

type Document struct {
	Text    string         `json:"text"`
	ID      *string        `json:"id,omitempty"`
	Columns map[string]any `json:"columns,omitempty"`
}

type SegmentRequest struct {
	Documents []Document     `json:"documents"`
	Options   map[string]any `json:"options,omitempty"`
	Format    string         `json:"format,omitempty"` // text, markdown or html
}

// Chunk has further columns in the answer; docs/chunks.md lists them.
type Chunk struct {
	Text   string `json:"text"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Tokens int    `json:"tokens"`
}

type SegmentedDocument struct {
	ID     *string `json:"id"`
	Chunks []Chunk `json:"chunks"`
}

type RowFailure struct {
	Document int    `json:"document"`
	Reason   string `json:"reason"`
}

type SegmentAnswer struct {
	Documents []SegmentedDocument `json:"documents"`
	Errors    []RowFailure        `json:"errors"`
	Metadata  map[string]any      `json:"metadata"`
}

type Failure struct {
	Error struct {
		Message string `json:"message"`
		Path    string `json:"path"`
		Request string `json:"request"`
	} `json:"error"`
}

func segment(url, key string, request SegmentRequest) (*SegmentAnswer, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequest(http.MethodPost, url+"/v1/segment", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	if key != "" {
		post.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(post)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var failure Failure
		if err := json.NewDecoder(response.Body).Decode(&failure); err != nil {
			return nil, fmt.Errorf("%s", response.Status)
		}
		return nil, fmt.Errorf("%s: %s %s", response.Status, failure.Error.Path, failure.Error.Message)
	}
	var answer SegmentAnswer
	return &answer, json.NewDecoder(response.Body).Decode(&answer)
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: segment URL [KEY]")
	}
	key := ""
	if len(os.Args) > 2 {
		key = os.Args[2]
	}
	cats, stars := "cats", "stars"
	answer, err := segment(os.Args[1], key, SegmentRequest{
		Documents: []Document{
			{ID: &cats, Text: "Cats purr. 🐈 Dogs bark."},
			{ID: &stars, Text: "# Stars\n\nStars burn hydrogen."},
		},
		Options: map[string]any{"method": "sentence"},
		Format:  "markdown",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, document := range answer.Documents {
		for _, chunk := range document.Chunks {
			text, _ := json.Marshal(chunk.Text)
			fmt.Println(*document.ID, chunk.Start, chunk.End, string(text))
		}
	}
}
