// What the topic network is told of each sentence besides its vector, all of it exact on every machine.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/rows.h"

namespace pychunk {

// Of sentence s and the gap before it; x are vectors less the document's mean, L_w and R_w sums of up to w of them
// before and after the gap:
//   0..3    cosine of L_w and R_w, w = 1, 2, 4, 8
//   4, 5    cosine of L_4 and x_s, of x_(s-1) and R_4
//   6       cosine of the sentence's vector and the mean
//   7       length in bytes, its logarithm to base 2 by linear interpolation
//   8..11   repetition: share of its words (of 5 bytes or more) met in the 2 sentences before, in the 10 before, met
//           never before; words that come back across the gap within 10 sentences, for each word near the gap
//   12..16  1 where it begins a paragraph, after a blank line, is a paragraph, is a heading, is an item of a list
constexpr int64_t kTopicInputs = 17;
// Sentences to either side whose vectors those of one sentence are made of, at most.
constexpr int64_t kTopicAround = 16;

// Classes of a sentence's first two words: 0 there is none, 1 a number, 2 unknown, then the known ones.
constexpr int64_t kTopicWordClasses = 3;

// Words that sentences begin with, by their first 8 bytes (training/topic.py).
class TopicWords {
 public:
  TopicWords() = default;
  explicit TopicWords(std::span<const uint64_t> keys);
  int32_t class_of(uint64_t key) const;

 private:
  int shift_ = 63;
  std::vector<uint64_t> keys_;  // open addressing; 0 is a free place
  std::vector<int32_t> classes_;
};

// A document's sentences, as the network reads them.
struct TopicText {
  std::string_view text;
  std::span<const int64_t> starts;
  std::span<const uint8_t> flags;  // SentenceFlag
};

// Rows of kTopicInputs floats, of which the cosines are zero; classes of the first two words of each sentence.
struct TopicInputs {
  std::vector<float> rows;
  std::vector<int32_t> words;  // [n, 2]
};
void topic_text_inputs(const TopicWords& words, const TopicText& text, TopicInputs& out);

// The mean of all rows: sums of kSumRows rows, summed in their order.
void topic_mean(const Rows& vectors, std::vector<float>& mean);

// The cosines of sentences [begin, end) into their rows; `mean` is the vectors' mean.
void topic_cosines(const Rows& vectors, const float* mean, int64_t begin, int64_t end, float* rows);

}  // namespace pychunk
