// The network that finds where a new topic begins. It is small, and reads the static vectors of the sentences around
// each gap, and other inputs that cost little. training/topic.py trains it to find the section starts of articles.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/rows.h"
#include "common/view.h"
#include "vectors/topic_inputs.h"

namespace pychunk {

// A convolution over sentences, with kernel * channels rows of weights, tap by tap.
struct TopicLayer {
  Matrix<const float> weights;  // [kernel * channels, channels]
  std::span<const float> bias;  // [channels]
  int64_t dilation = 1;
};

// The network's weights. For each sentence let v be its vector, m the document's mean and f the sentence's inputs
// (topic_inputs.h). Then
//   h = max(0, bias + first[word 1] + second[word 2] + (v vectors - m vectors) + f inputs)
//   h = h + max(0, layer(h)) for each layer
//   logit = out_bias + h . out + f . skip
// Vectors add only to the first channels, whose number is a multiple of 16, as is the number of all channels. Every
// layer sees zeros before the first sentence and after the last.
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

// Computes n - 1 affinities, with the same bits everywhere. affinities[s] is the probability that sentence s + 1
// continues the topic of sentence s. It is 1 / (1 + exp(logit of s + 1)). The function takes about 50 bytes per
// sentence, and memory for blocks of 512 sentences.
void topic_affinities(const TopicHead& head, const TopicText& text, const Rows& vectors,
                      std::vector<float>& affinities);

// Returns 1 / (1 + exp(x)) by a fixed sequence of IEEE operations. The last bit of std::exp, in contrast, depends on
// the library.
float exact_logistic(float x);

}  // namespace pychunk
