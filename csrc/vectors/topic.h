// Where a new topic begins: a small network over the static vectors of the sentences around each gap, and over what is
// cheap to tell of them. Trained by training/topic.py on where sections of articles begin.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/rows.h"
#include "common/view.h"
#include "vectors/topic_inputs.h"

namespace pychunk {

// A convolution over sentences: kernel * channels rows of weights, tap by tap.
struct TopicLayer {
  Matrix<const float> weights;  // [kernel * channels, channels]
  std::span<const float> bias;  // [channels]
  int64_t dilation = 1;
};

// For each sentence, with v its vector, m the document's mean and f the sentence's inputs (topic_inputs.h):
//   h = max(0, bias + first[word 1] + second[word 2] + (v vectors - m vectors) + f inputs)
//   h = h + max(0, layer(h))                                                       for each layer
//   logit = out_bias + h . out + f . skip
// Vectors add to the first channels alone, a multiple of 16 as all of them. Sentences before the first and after the
// last are zero to every layer.
struct TopicHead {
  Matrix<const float> vectors;        // [dim, channels that vectors add to]
  Matrix<const float> inputs;         // [kTopicInputs, channels]
  Matrix<const float> first, second;  // [kTopicWordClasses + words, channels]
  std::span<const float> bias, out;   // [channels]
  std::span<const float> skip;        // [kTopicInputs]
  float out_bias = 0.0f;
  std::vector<TopicLayer> layers;
  TopicWords words;
};

// affinities[s] is the probability that sentence s + 1 goes on with the topic of sentence s: 1 / (1 + exp(logit of
// s + 1)), the same bits everywhere. n - 1 of them. Memory: some 50 bytes a sentence, and blocks of 512.
void topic_affinities(const TopicHead& head, const TopicText& text, const Rows& vectors,
                      std::vector<float>& affinities);

// 1 / (1 + exp(x)) by a fixed sequence of IEEE operations, unlike std::exp, whose last bit hangs on the library.
float exact_logistic(float x);

}  // namespace pychunk
