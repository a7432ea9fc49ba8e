// The inputs of the topic network for each sentence, in addition to its vector. They are exact on every machine.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/rows.h"

namespace pychunk {

// The number of inputs of sentence s and the gap before it. Let x_i be the vector of sentence i minus the document's
// mean vector. L_w is the sum of up to w such vectors before the gap, R_w of up to w after it.
// - 0 to 3: the cosine of L_w and R_w, for w = 1, 2, 4, 8.
// - 4 and 5: the cosine of L_4 and x_s, and of x_(s-1) and R_4.
// - 6: the cosine of the sentence's vector and the document's mean vector.
// - 7: the base-2 logarithm of the sentence's length in bytes, with linear interpolation.
// - 8 to 10: the share of its words (of 5 bytes or more) that occur in the 2 sentences before, in the 10 before, and
//   never before.
// - 11: the number of words that recur across the gap within 10 sentences, per word near the gap.
// - 12 to 16: 1 or 0, whether the sentence begins a paragraph, follows a blank line, is a paragraph, is a heading, is a
//   list item.
constexpr int64_t kTopicInputs = 17;
// The largest distance of a sentence whose vector contributes to the inputs of another one.
constexpr int64_t kTopicAround = 16;

// The number of special classes of a sentence's first two words: 0 for no word, 1 for a number, 2 for an unknown word.
// Known words follow.
constexpr int64_t kTopicWordClasses = 3;

// The known words at the beginning of sentences, identified by their first 8 bytes (training/topic.py).
class TopicWords {
 public:
  TopicWords() = default;
  explicit TopicWords(std::span<const uint64_t> keys);
  int32_t class_of(uint64_t key) const;

 private:
  int shift_ = 63;
  std::vector<uint64_t> keys_;  // open addressing; 0 is a free slot
  std::vector<int32_t> classes_;
};

// The sentences of a document, as input of the network.
struct TopicText {
  std::string_view text;
  std::span<const int64_t> starts;
  std::span<const uint8_t> flags;  // SentenceFlag
};

// The inputs of a document: rows of kTopicInputs floats whose cosines are still zero, and the classes of each
// sentence's first two words.
struct TopicInputs {
  std::vector<float> rows;
  std::vector<int32_t> words;  // [n, 2]
};
void topic_text_inputs(const TopicWords& words, const TopicText& text, TopicInputs& out);

// Computes the mean of all rows. It sums kSumRows rows at a time, and adds these sums in order.
void topic_mean(const Rows& vectors, std::vector<float>& mean);

// Writes the cosines of sentences [begin, end) to their rows. `mean` is the mean of the vectors.
void topic_cosines(const Rows& vectors, const float* mean, int64_t begin, int64_t end, float* rows);

}  // namespace pychunk
