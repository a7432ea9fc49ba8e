#include "tokens/sentencepiece/piece_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/check.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "text/graphemes.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// The keys that the cluster of a character may match have fewer bytes.
constexpr size_t kMostClusterBytes = 6;
// A word is divided only within its first bytes, and in parts of at most as many, which bounds the errors of sums.
constexpr size_t kMostDividedBytes = 4096;
// The flag in the key of a part that is not the first one of its word.
constexpr uint8_t kContinues = 0x80;
// The number of words whose places in the cache are prefetched before they are needed.
constexpr size_t kWordsAhead = 16;

// Returns whether a character has the property White_Space, as Rust's char::is_whitespace tells.
bool is_white_space(char32_t c) { return is_space(c) && !(c >= 0x1C && c <= 0x1F); }

size_t length_at(std::string_view text, size_t at) {
  const auto c = static_cast<uint8_t>(text[at]);
  return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

// Returns where the character before `at` begins.
size_t last_character(const uint8_t* text, size_t at) {
  do --at;
  while (continues_character(text[at]));
  return at;
}

}  // namespace

PieceEncoder::PieceEncoder(const PieceVocabulary& vocabulary, WordCache* cache, TokenFields fields,
                           Values<int32_t>& ids, Values<int64_t>& byte_spans)
    : v_(vocabulary),
      o_(vocabulary.options),
      sums_(vocabulary.follows_sentencepiece() && vocabulary.options.model == PieceModel::kUnigram),
      like_sentencepiece_(vocabulary.follows_sentencepiece()),
      cache_(cache),
      fields_(fields),
      ids_(ids),
      spans_(byte_spans),
      search_(vocabulary) {
  if (fields_ != TokenFields::kCounts) room_ids_ = std::make_unique_for_overwrite<int32_t[]>(kRoom);
  if (fields_ == TokenFields::kByteSpans) room_spans_ = std::make_unique_for_overwrite<int64_t[]>(2 * kRoom);
  next_id_ = room_ids_.get();
  next_span_ = room_spans_.get();
}

int64_t PieceEncoder::encode(std::string_view text, size_t begin, size_t end) {
  PYCHUNK_CHECK(end - begin < (size_t{1} << 31), "a text must be shorter than 2 GiB, got ", end - begin, " bytes");
  text_ = text, begin_ = begin, end_ = end, stops_end_ = 0;
  const int64_t before = count_;
  strip();
  if (begin_ == end_) return 0;
  search_.begin_text();
  after_unknown_ = false;
  const size_t first = begin_text();
  if (first == end_ && like_sentencepiece_ && o_.join_spaces) return 0;  // only spaces
  if (v_.splits_before_normalising) {
    begin_ = first;
    encode_words();
  } else {
    put_marks_into_buffer();
    normalise(first, end_);
  }
  end_text();
  return count_ - before;
}

// Removes white space from the ends, for the normaliser Strip of tokenizers.
void PieceEncoder::strip() {
  if (like_sentencepiece_) return;
  const auto drops = [&](size_t at, size_t length) {
    const char32_t c = decode_utf8(data() + at).code_point;
    const CharacterMap::Entry entry = v_.map[c];
    if (entry.value < 0) return is_white(bytes(at, at + length));
    const std::string_view by = v_.map.replacement(entry.value);
    for (size_t i = 0; i < by.size(); i += length_at(by, i))
      if (!is_white_space(decode_utf8(reinterpret_cast<const uint8_t*>(by.data()) + i).code_point)) return false;
    return true;
  };
  while (o_.strip_left && begin_ < end_ && drops(begin_, length_at(text_, begin_))) begin_ += length_at(text_, begin_);
  while (o_.strip_right && begin_ < end_) {
    size_t at = end_ - 1;
    while (continues_character(data()[at])) --at;
    if (!drops(at, end_ - at)) break;
    end_ = at;
  }
}

bool PieceEncoder::is_white(std::string_view character) const {
  return is_white_space(decode_utf8(reinterpret_cast<const uint8_t*>(character.data())).code_point);
}

// Starts a text and returns where its normalised characters begin.
size_t PieceEncoder::begin_text() {
  buffer_.clear();
  sources_.clear();
  marks_ = {};
  done_ = 0;
  has_word_ = is_inserted_ = false;
  at_start_ = true;
  after_space_ = false;
  size_t at = begin_;
  if (!like_sentencepiece_) return at;
  if (o_.join_spaces) {
    after_space_ = true;
    while (at < end_) {  // drop spaces
      const size_t length = length_at(text_, at);
      if (v_.starts_symbol[data()[at]] && v_.symbols.longest(bytes(at, end_)) > 0) break;
      const CharacterMap::Entry entry = v_.map[decode_utf8(data() + at).code_point];
      CharacterMap::Match match{entry.value, 0};
      if (entry.node != 0)
        if (const auto longer = v_.map.longest(entry.node, bytes(at + length, end_)); longer.value >= 0) match = longer;
      if (match.value >= 0 ? v_.map.replacement(match.value) != " " : text_[at] != ' ') break;
      at += length + match.length;
    }
    if (at == end_) return at;
  }
  if (o_.prefix != PiecePrefix::kNever) {
    marks_ = {1, {at, at}};
    at_start_ = false;
  }
  return at;
}

void PieceEncoder::end_text() {
  if (like_sentencepiece_ && o_.join_spaces) {  // drop marks at the end
    marks_ = {};
    size_t end = end_;
    while (buffer_.size() >= kSpaceMark.size() && std::memcmp(buffer_.data() + buffer_.size() - kSpaceMark.size(),
                                                              kSpaceMark.data(), kSpaceMark.size()) == 0) {
      buffer_.resize(buffer_.size() - kSpaceMark.size());
      end = sources_[buffer_.size()].begin;
      sources_.resize(buffer_.size());
    }
    if (!buffer_.empty()) flush(end);
  } else {
    put_marks_into_buffer();
    // strip() leaves the space with which the replacement of the last character may end.
    const bool ends_with_space = o_.strip_right && after_space_ && !has_word_;
    if (!buffer_.empty() && (like_sentencepiece_ || !ends_with_space)) flush(end_);
  }
  deliver();
}

// ---- words ----

void PieceEncoder::encode_words() {
  const uint8_t* const text = data();
  RawWord words[kWordsAhead];
  // Parts are for the cache. Without it, they would bring nothing, and tests compare the results.
  const uint8_t punctuation = cache_ == nullptr ? 0 : PieceVocabulary::kPunctuation;
  bool is_continued = false;
  size_t first = begin_;  // the beginning of the word
  for (size_t at = begin_; at < end_;) {
    checkpoint();
    // The places of the next words in the cache are prefetched. Half of the time of words there went into the waits.
    size_t count = 0;
    for (; count < kWordsAhead && at < end_; ++count) {
      RawWord& word = words[count];
      word.spaces = at;
      while (at < end_ && v_.is_space[text[at]]) ++at;
      word.begin = at;
      word.continues = is_continued;
      is_continued = false;
      if (at > word.spaces) first = at;
      while ((at = next_stop(at + 1)) < end_) {
        const uint8_t role = v_.roles[text[at]], last = v_.roles[text[at - 1]];
        if (role == PieceVocabulary::kSpace) break;
        if (((role ^ last) & punctuation) != 0 && is_border(first, at)) {
          is_continued = true;
          break;
        }
      }
      word.end = at;
      word.is_continued = is_continued;
      if (cache_ == nullptr || word.begin == word.end || word.end - word.begin > WordCache::kMostBytes) continue;
      word.key = key_of(word.begin, word.end, word.continues);
      cache_->prefetch(word.key);
    }
    for (size_t i = 0; i < count; ++i) {
      const RawWord& word = words[i];
      if (add_known(word)) continue;
      if (word.begin > word.spaces) add_spaces(word.spaces, word.begin);
      if (word.end == word.begin || word.begin < done_) continue;
      if (word.continues)
        encode_part(word);
      else
        encode_word(word);
    }
  }
}

// Adds a word in the cache after a space as add_spaces() and encode_word() do, without their checks. Returns false if
// it is another word.
bool PieceEncoder::add_known(const RawWord& word) {
  const size_t size = word.end - word.begin;
  if (cache_ == nullptr || word.begin - word.spaces != 1 || size == 0 || size > WordCache::kMostBytes) return false;
  if (!buffer_.empty() || marks_.count > 0 || o_.split_at_white) return false;
  const Source mark{word.begin - 1, word.begin};
  if (word.is_continued) word_ = {word.begin, mark, {1, mark}, false, true, false};
  return add_cached(word.key, word.begin, mark);
}

// Returns whether a part of the word that begins at `begin` ends at `at`: between punctuation, which is one byte, and a
// letter. Neither side may have marks in its grapheme cluster, with which it could become another character.
bool PieceEncoder::is_border(size_t begin, size_t at) const {
  if (at - begin > kMostDividedBytes) return false;
  const uint8_t* const text = data();
  const auto is_letter = [&](size_t from) {
    const uint8_t role = v_.roles[text[from]];
    return text[from] < 0x80 ? role == PieceVocabulary::kLetter : v_.is_letter(decode_utf8(text + from).code_point);
  };
  const bool is_between =
      v_.roles[text[at]] == PieceVocabulary::kPunctuation ? is_letter(last_character(text, at)) : is_letter(at);
  const size_t next = at + length_at(text_, at);
  return is_between && (next >= end_ || text[next] < 0x80 || !extends_cluster(decode_utf8(text + next).code_point));
}

// Returns where a word or a part of one may end, at `at` or after it: at or after an ASCII character that is neither a
// letter nor a digit. A loop over the bytes of a word ends with a branch that no processor predicts: it made the
// tokenizer 8 % slower.
size_t PieceEncoder::next_stop(size_t at) {
  for (;;) {
    if (at >= end_) return end_;
    if (at >= stops_end_) fill_stops(at);
    const size_t bit = at - stops_begin_;
    if (const uint64_t rest = stops_[bit / 64] >> bit % 64; rest != 0)
      return at + static_cast<size_t>(std::countr_zero(rest));
    at += 64 - bit % 64;
  }
}

void PieceEncoder::fill_stops(size_t from) {
  stops_begin_ = from, stops_end_ = std::min(end_, from + kStops);
  kernels().mark_words(data() + from, stops_end_ - from, stops_);
  uint64_t before = 1;
  for (size_t at = from, i = 0; at < stops_end_; at += 64, ++i) {
    const uint64_t others = ~stops_[i];
    stops_[i] = others | others << 1 | before;
    before = others >> 63;
  }
}

size_t PieceEncoder::word_end(size_t at) const {
  while (at < end_ && !v_.is_space[data()[at]]) ++at;
  return at;
}

// Returns the key of text [begin, end), of at most WordCache::kMostBytes bytes.
WordCache::Key PieceEncoder::key_of(size_t begin, size_t end, bool continues) const {
  const uint8_t flag = continues ? kContinues : 0;
  if (begin + WordCache::kMostBytes <= text_.size()) return WordCache::key_of(data() + begin, end - begin, flag);
  uint8_t padded[WordCache::kMostBytes] = {};
  std::memcpy(padded, data() + begin, end - begin);
  return WordCache::key_of(padded, end - begin, flag);
}

void PieceEncoder::put_marks_into_buffer() {
  const Source first = marks_.first;
  for (size_t i = 0; i < marks_.count; ++i) {
    // The marks after the first are spaces of one byte each, before the word.
    const size_t at = first.end + i;
    append(kSpaceMark, i == 0 ? first : Source{at - 1, at});
  }
  marks_ = {};
}

void PieceEncoder::take_marks_from_buffer() {
  if (marks_.count > 0 || buffer_.size() != kSpaceMark.size() || has_word_) return;
  marks_ = {1, sources_[0]};
  buffer_.clear();
  sources_.clear();
}

// Adds a run of ASCII characters that are spaces.
void PieceEncoder::add_spaces(size_t begin, size_t end) {
  is_inserted_ = false;
  if (o_.split_at_white) {
    if (!buffer_.empty()) flush(begin);
    deliver();
    at_start_ = false;
    return;
  }
  if (buffer_.empty() && marks_.count == 0) {
    if (o_.join_spaces || end - begin == 1) {
      size_t last = like_sentencepiece_ ? begin : end - 1;
      // CR LF is one character for tokenizers.
      if (!like_sentencepiece_ && last > begin && text_[last] == '\n' && text_[last - 1] == '\r') --last;
      marks_ = {1, {last, last + 1}};
      at_start_ = false, after_space_ = true;
      return;
    }
    // Several marks begin the key of a word only if the spaces are spaces in the text.
    if (like_sentencepiece_ &&
        std::all_of(text_.begin() + static_cast<int64_t>(begin), text_.begin() + static_cast<int64_t>(end),
                    [](char c) { return c == ' '; })) {
      marks_ = {end - begin, {begin, begin + 1}};
      at_start_ = false;
      return;
    }
  } else if (buffer_.empty() && marks_.count == 1 && like_sentencepiece_ && !o_.join_spaces &&
             marks_.first.begin == marks_.first.end && marks_.first.end == begin &&
             std::all_of(text_.begin() + static_cast<int64_t>(begin), text_.begin() + static_cast<int64_t>(end),
                         [](char c) { return c == ' '; })) {
    marks_.count += end - begin;  // after the mark at the beginning of the text
    return;
  }
  put_marks_into_buffer();
  normalise(begin, end);
  deliver();
}

// Tokenizes a word, in which no ASCII character is a space, or its first part.
void PieceEncoder::encode_word(const RawWord& word) {
  const size_t begin = word.begin, end = word.end;
  take_marks_from_buffer();
  // Without white space before it, the source of a word's mark is the word's first character.
  const bool adds_mark = marks_.count == 0 && buffer_.empty() && prefixed(begin);
  const Source mark = adds_mark ? Source{begin, begin + length_at(text_, begin)} : marks_.first;
  const size_t own = begin - (marks_.count > 0 ? marks_.count - 1 : 0);  // the beginning of the key
  const bool has_mark = adds_mark || marks_.count > 0;
  const bool may_be_cached = cache_ != nullptr && end - own <= WordCache::kMostBytes && has_mark;
  const bool has_key = may_be_cached && (own == begin || !word.is_continued);
  const WordCache::Key key = !has_key ? WordCache::Key{} : own == begin ? word.key : key_of(own, end, false);
  if (word.is_continued) word_ = {begin, mark, marks_, at_start_, after_space_, is_inserted_};
  if (has_key && add_cached(key, own, mark)) return;
  const bool stays = has_mark && own == begin && stays_same(begin, end);
  if (word.is_continued && !stays) return encode_rest(begin);
  bool is_plain = true;
  if (stays)
    compute_same(begin, end, mark);
  else
    is_plain = compute_word(begin, end);
  if (has_key && is_plain) store(key, own, mark);
  deliver();
}

// Tokenizes a part of a word that is not the first one. Its tokens are those that the word has there: tokenizers adds
// the scores of a word from its beginning, so the tokens of a part are stored only if no rounding error of sums changes
// them.
void PieceEncoder::encode_part(const RawWord& part) {
  const size_t size = part.end - part.begin;
  const bool has_key = size <= WordCache::kMostBytes;  // there are parts only with a cache
  const Source mark{part.begin, part.begin};
  if (has_key && add_cached(part.key, part.begin, mark)) return;
  if (size > kMostDividedBytes || !stays_same(part.begin, part.end)) return encode_rest(part.begin);
  compute_part(part.begin, part.end);
  if (!search_.is_certain(kMostDividedBytes)) {
    tokens_.clear();
    return encode_rest(part.begin);
  }
  if (has_key) store(part.key, part.begin, mark);
  deliver();
}

// Tokenizes the word whole, and adds the tokens from the border at `from` on.
void PieceEncoder::encode_rest(size_t from) {
  done_ = word_end(from);
  marks_ = word_.marks;
  at_start_ = word_.at_start, after_space_ = word_.after_space, is_inserted_ = word_.is_inserted;
  const bool has_mark = word_.mark.begin != word_.mark.end;
  if (has_mark && marks_.count < 2 && stays_same(word_.begin, done_))
    compute_same(word_.begin, done_, word_.mark);
  else
    compute_word(word_.begin, done_);
  if (from > word_.begin) std::erase_if(tokens_, [&](const Token& token) { return token.begin < from; });
  deliver();
}

// Returns whether normalising keeps all bytes of a word.
bool PieceEncoder::stays_same(size_t begin, size_t end) const {
  const uint8_t* const text = data();
  bool is_ascii = true;
  for (size_t at = begin; at < end && is_ascii; ++at) is_ascii = v_.is_kept[text[at]];
  if (is_ascii) return true;
  bool has_longer_key = false;  // one may begin with the character before
  for (size_t at = begin; at < end;) {
    const auto [c, length] = decode_utf8(text + at);
    const CharacterMap::Entry entry = v_.map[c];
    if (c == 0x2581 || v_.starts_symbol[text[at]] || (o_.split_at_white && is_white_space(c))) return false;
    if (!entry.empty() && (entry.value >= 0 || like_sentencepiece_ || extends_cluster(c))) return false;
    if (has_longer_key && (c == '\n' || extends_cluster(c))) return false;  // CR LF is one cluster
    has_longer_key = entry.node != 0;
    at += static_cast<size_t>(length);
  }
  return true;
}

// Tokenizes a word with one mark that normalising keeps as it is.
void PieceEncoder::compute_same(size_t begin, size_t end, Source mark) {
  constexpr size_t kMark = kSpaceMark.size();
  marks_ = {};
  has_unknown_ = false;
  buffer_.resize(kMark + end - begin);
  std::memcpy(buffer_.data(), kSpaceMark.data(), kMark);
  std::memcpy(buffer_.data() + kMark, data() + begin, end - begin);
  divide([&](PieceSearch::Part part) {
    const size_t from = part.begin == 0 ? mark.begin : begin + part.begin - kMark;
    const bool is_mark = part.end == kMark && !like_sentencepiece_;
    add_part(part, from, is_mark ? mark.end : begin + part.end - kMark);
  });
  at_start_ = after_space_ = is_inserted_ = false;
}

// Tokenizes a part of a word that normalising keeps as it is, as if the word began there, without a mark.
void PieceEncoder::compute_part(size_t begin, size_t end) {
  has_unknown_ = false;
  buffer_.assign(data() + begin, data() + end);
  divide([&](PieceSearch::Part part) { add_part(part, begin + part.begin, begin + part.end); }, true);
}

// Adds the tokens of a word in the cache. Returns false if the word is not there.
bool PieceEncoder::add_cached(const WordCache::Key& key, size_t own, Source mark) {
  const WordCache::Word* const word = cache_->find(key);
  if (word == nullptr) return false;
  if (sums_) {
    PieceSearch::Margin margin;
    std::memcpy(&margin, &word->ids[kMostSummed], sizeof margin);
    if (!search_.same_after_sum(margin, word->size)) return false;
    search_.add(word->ids, word->count);
  }
  const size_t count = word->count;
  count_ += static_cast<int64_t>(count);
  if (fields_ != TokenFields::kCounts) {
    make_room();
    std::memcpy(next_id_, word->ids, sizeof word->ids);
    next_id_ += count;
    if (fields_ == TokenFields::kByteSpans) {
      size_t at = mark.begin;
      for (size_t i = 0; i < count; ++i) {
        next_span_[2 * i] = static_cast<int64_t>(at);
        at = own + word->ends[i];
        next_span_[2 * i + 1] = static_cast<int64_t>(at);
      }
      if (word->ends[0] == 0 && !like_sentencepiece_) next_span_[1] = static_cast<int64_t>(mark.end);
      next_span_ += 2 * count;
    }
  }
  marks_ = {};
  at_start_ = after_space_ = after_unknown_ = is_inserted_ = false;
  return true;
}

// Tokenizes a word that is not in the cache. Returns whether its tokens are the same after any space.
bool PieceEncoder::compute_word(size_t begin, size_t end) {
  put_marks_into_buffer();
  const size_t marks = std::max(buffer_.size(), kSpaceMark.size());
  flushes_ = characters_ = 0;
  has_unknown_ = begins_with_mark_ = false;
  normalise(begin, end);
  if (!has_word_) return false;  // it became nothing, or ends with a space
  // If its first character comes from another one than the first, or is part of the cluster of the space, then another
  // space gives other tokens or offsets.
  const bool is_plain = flushes_ == 0 && !begins_with_mark_ && buffer_.size() > marks &&
                        sources_[marks].begin == begin &&
                        (like_sentencepiece_ || !extends_cluster(decode_utf8(data() + begin).code_point));
  flush(end);
  return is_plain;
}

void PieceEncoder::store(const WordCache::Key& key, size_t own, Source mark) {
  const size_t most = sums_ ? kMostSummed : WordCache::kMostTokens;
  const bool continues = (key.size & kContinues) != 0;
  if (tokens_.empty() || tokens_.size() > most || (like_sentencepiece_ && has_unknown_)) return;
  WordCache::Word word{};
  word.count = static_cast<uint8_t>(tokens_.size());
  size_t at = mark.begin;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    word.ids[i] = token.id;
    if (token.begin != at) return;
    if (i == 0 && !like_sentencepiece_ && !continues && first_size_ == kSpaceMark.size()) {  // the mark alone
      if (token.end != mark.end) return;
      at = own;
      continue;
    }
    if (token.end < own || token.end > own + (key.size & ~kContinues) || (!like_sentencepiece_ && token.end == own))
      return;
    word.ends[i] = static_cast<uint8_t>(token.end - own);
    at = token.end;
  }
  if (sums_) {
    const PieceSearch::Margin margin = search_.margin();
    static_assert(sizeof margin <= (WordCache::kMostTokens - kMostSummed) * sizeof(int32_t));
    std::memcpy(&word.ids[kMostSummed], &margin, sizeof margin);
  }
  cache_->insert(key, word);
}

// ---- characters ----

void PieceEncoder::normalise(size_t begin, size_t end) {
  if (like_sentencepiece_)
    normalise_longest(begin, end);
  else
    normalise_clusters(begin, end);
}

// Normalises as tokenizers does: a grapheme cluster of less than six bytes becomes the replacement of the shortest key
// with which it begins. The characters of other clusters are replaced one by one.
void PieceEncoder::normalise_clusters(size_t begin, size_t end) {
  char32_t previous = begin > begin_ && text_[begin - 1] == ' ' ? U' ' : U'\0';
  bool is_prepended = false;
  for (size_t at = begin; at < end;) {
    checkpoint_each(static_cast<int64_t>(at), 1 << 16);
    const auto [c, size] = decode_utf8(data() + at);
    const auto length = static_cast<size_t>(size);
    const CharacterMap::Entry entry = v_.map[c];
    const bool continues =
        !entry.empty() && !is_control(previous) && (extends_cluster(c) || (is_prepended && !is_control(c)));
    size_t stop = at + length, characters = 1;
    if (entry.empty() && c > ' ' && c != 0x2581 && has_word_ && !o_.split_at_white) {
      stop = add_kept(at, end);
      previous = decode_utf8(data() + last_character(data(), stop)).code_point;
      is_prepended = prepends_cluster(previous);
      at = stop;
      continue;
    }
    if (entry.empty() || continues) {
      add_one(c, at, length);
      is_prepended = prepends_cluster(c);
    } else {
      stop = cluster_end(at, end, characters);
      int32_t value = -1;
      if (stop - at < kMostClusterBytes) {
        value = entry.value;
        if (value < 0 && characters > 1) value = v_.map.shortest(entry.node, bytes(at + length, stop)).value;
      }
      if (value >= 0) {
        replace(v_.map.replacement(value), at, stop, characters);
      } else {
        for (size_t i = at; i < stop; i += length_at(text_, i))
          add_one(decode_utf8(data() + i).code_point, i, length_at(text_, i));
      }
      is_prepended = false;
    }
    previous = c;
    at = stop;
  }
}

// Adds characters that are in no key and are no space, from `at` on, and returns their end.
size_t PieceEncoder::add_kept(size_t at, size_t end) {
  size_t stop = at;
  while (stop < end) {
    const auto [c, length] = decode_utf8(data() + stop);
    if (c <= ' ' || c == 0x2581 || !v_.map[c].empty()) break;
    sources_.insert(sources_.end(), static_cast<size_t>(length), {stop, stop + static_cast<size_t>(length)});
    stop += static_cast<size_t>(length);
    ++characters_;
  }
  buffer_.insert(buffer_.end(), data() + at, data() + stop);
  after_space_ = is_inserted_ = at_start_ = false;
  return stop;
}

// Returns the end of the grapheme cluster that begins at `at`, or an end before it, if the cluster has at least
// kMostClusterBytes bytes up to there.
size_t PieceEncoder::cluster_end(size_t at, size_t end, size_t& characters) const {
  const char32_t c = decode_utf8(data() + at).code_point;
  size_t stop = at + length_at(text_, at);
  characters = 1;
  if (c == '\r' && stop < end && text_[stop] == '\n') {
    ++characters;
    return stop + 1;
  }
  if (is_control(c)) return stop;
  while (stop < end && stop - at < kMostClusterBytes && extends_cluster(decode_utf8(data() + stop).code_point)) {
    stop += length_at(text_, stop);
    ++characters;
  }
  return stop;
}

void PieceEncoder::add_one(char32_t code_point, size_t at, size_t length) {
  const int32_t value = v_.map[code_point].value;
  if (value >= 0) return replace(v_.map.replacement(value), at, at + length, 1);
  is_inserted_ = false;
  add(bytes(at, at + length), {at, at + length});
}

// Replaces some characters. Each new character comes from the old one with its number, or from the last one.
void PieceEncoder::replace(std::string_view by, size_t at, size_t end, size_t characters) {
  if (by.empty()) {
    // tokenizers gives the source of the first removed character to the character before, if that was added to others.
    if (is_inserted_ && !buffer_.empty()) {
      size_t last = buffer_.size() - 1;
      while (continues_character(buffer_[last])) --last;
      for (size_t i = last; i < sources_.size(); ++i) sources_[i] = {at, at + length_at(text_, at)};
    }
    is_inserted_ = false;
    return;
  }
  size_t count = 0;
  for (size_t i = 0; i < by.size(); ++count) {
    const size_t length = length_at(by, i), next = at + length_at(text_, at);
    add(by.substr(i, length), {at, next});
    if (next < end) at = next;
    i += length;
  }
  is_inserted_ = count > characters;
}

// Normalises as sentencepiece does: the longest key is replaced, but user-defined symbols are not.
void PieceEncoder::normalise_longest(size_t begin, size_t end) {
  for (size_t at = begin; at < end;) {
    checkpoint_each(static_cast<int64_t>(at), 1 << 16);
    if (v_.starts_symbol[data()[at]]) {
      if (const size_t length = v_.symbols.longest(bytes(at, end)); length > 0) {
        add_replacement(bytes(at, at + length), {at, at + length});
        at += length;
        continue;
      }
    }
    const auto [c, size] = decode_utf8(data() + at);
    size_t length = static_cast<size_t>(size);
    const CharacterMap::Entry entry = v_.map[c];
    int32_t value = entry.value;
    if (entry.node != 0) {
      const CharacterMap::Match match = v_.map.longest(entry.node, bytes(at + length, end));
      if (match.value >= 0) value = match.value, length += match.length;
    }
    add_replacement(value >= 0 ? v_.map.replacement(value) : bytes(at, at + length), {at, at + length});
    at += length;
  }
}

void PieceEncoder::add_replacement(std::string_view by, Source source) {
  if (by.empty()) return;
  while (o_.join_spaces && after_space_ && !by.empty() && by[0] == ' ') {
    if (characters_++ == 0) begins_with_mark_ = true;
    by.remove_prefix(1);
  }
  if (by.empty()) return;
  after_space_ = false;  // spaces within a replacement are not joined
  for (size_t i = 0; i < by.size();) {
    const size_t length = length_at(by, i);
    add(by.substr(i, length), source);
    after_space_ = false;
    i += length;
  }
  after_space_ = o_.join_spaces && by.back() == ' ';
}

// Returns whether a word that begins at `at` gets a mark that stands for no white space.
bool PieceEncoder::prefixed(size_t at) const {
  if (like_sentencepiece_) return false;  // begin_text() has added it
  if (o_.split_at_white) return o_.prefix == PiecePrefix::kAlways || (o_.prefix == PiecePrefix::kFirst && at == begin_);
  return at_start_ && o_.prefix != PiecePrefix::kNever;
}

void PieceEncoder::add(std::string_view character, Source source) {
  const bool is_first = characters_++ == 0;
  const uint8_t lead = static_cast<uint8_t>(character[0]);
  if (at_start_ && o_.strip_left && !like_sentencepiece_ && is_white(character)) {
    begins_with_mark_ = true;
    return;
  }
  if (o_.split_at_white && is_white(character)) {
    begins_with_mark_ |= is_first;
    if (!buffer_.empty()) flush(source.begin);
    at_start_ = false;
    return;
  }
  if (lead == ' ') {
    begins_with_mark_ |= is_first;
    if (o_.join_spaces && after_space_) {
      // tokenizers gives the source of the last space to the mark. sentencepiece joins in add_replacement().
      for (size_t i = 1; i <= kSpaceMark.size() && i <= sources_.size(); ++i) sources_[sources_.size() - i] = source;
      return;
    }
    after_space_ = true;
    return add_mark(source);
  }
  after_space_ = false;
  if (lead == 0xE2 && character == kSpaceMark) {
    begins_with_mark_ |= is_first;
    return add_mark(source);
  }
  if (buffer_.empty() && prefixed(source.begin)) append(kSpaceMark, source);
  append(character, source);
  has_word_ = true;
  at_start_ = false;
}

void PieceEncoder::add_mark(Source source) {
  if (like_sentencepiece_ ? v_.has_words && has_word_ : !buffer_.empty()) flush(source.begin);
  append(kSpaceMark, source);
  at_start_ = false;
}

void PieceEncoder::append(std::string_view character, Source source) {
  // Not insert(): GCC 12, with optimisation, warns of a write past the end of an empty vector.
  const size_t size = buffer_.size();
  buffer_.resize(size + character.size());
  std::memcpy(buffer_.data() + size, character.data(), character.size());
  sources_.insert(sources_.end(), character.size(), source);
}

// ---- tokens ----

void PieceEncoder::flush(size_t end) {
  divide([&](PieceSearch::Part part) {
    const size_t after = !like_sentencepiece_         ? sources_[part.end - 1].end
                         : part.end < sources_.size() ? sources_[part.end].begin
                                                      : end;
    add_part(part, sources_[part.begin].begin, after);
  });
  ++flushes_;
}

template <typename Add>
void PieceEncoder::divide(Add add, bool measures) {
  const std::span<const PieceSearch::Part> parts = search_.divide(buffer_.data(), buffer_.size(), measures);
  first_size_ = 0;
  const bool joins_unknown = !like_sentencepiece_;  // sentencepiece joins them later, also those of two words
  for (size_t i = 0; i < parts.size(); ++i) {
    PieceSearch::Part part = parts[i];
    while (joins_unknown && part.id == o_.unknown && i + 1 < parts.size() && parts[i + 1].id == o_.unknown)
      part.end = parts[++i].end;
    if (first_size_ == 0) first_size_ = part.end;
    add(part);
  }
  buffer_.clear();
  sources_.clear();
  has_word_ = false;
}

void PieceEncoder::add_part(PieceSearch::Part part, size_t begin, size_t end) {
  if (part.id == o_.unknown) {
    const std::string_view text(reinterpret_cast<const char*>(buffer_.data()) + part.begin, part.end - part.begin);
    if (!like_sentencepiece_)
      if (const int32_t id = v_.trie.find(text); id >= 0) return tokens_.push_back({id, begin, end});
    has_unknown_ = true;
    if (!o_.bytes.empty()) {
      for (size_t i = 0; i < text.size(); ++i) {
        // sentencepiece gives all of the source to the last byte, and tokenizers gives it to each byte.
        const bool is_empty = like_sentencepiece_ && i + 1 < text.size();
        tokens_.push_back({o_.bytes[static_cast<uint8_t>(text[i])], begin, is_empty ? begin : end});
      }
      return;
    }
  }
  tokens_.push_back({part.id, begin, end});
}

// Adds the tokens of a word to the result.
void PieceEncoder::deliver() {
  for (const Token& token : tokens_) {
    const bool is_unknown = like_sentencepiece_ && o_.bytes.empty() && token.id == o_.unknown;
    if (is_unknown && after_unknown_) {  // sentencepiece joins them
      if (fields_ == TokenFields::kByteSpans) {
        make_room();
        (next_span_ == room_spans_.get() ? spans_.back() : next_span_[-1]) = static_cast<int64_t>(token.end);
      }
      continue;
    }
    after_unknown_ = is_unknown;
    ++count_;
    if (fields_ == TokenFields::kCounts) continue;
    make_room();
    *next_id_++ = token.id;
    if (fields_ != TokenFields::kByteSpans) continue;
    *next_span_++ = static_cast<int64_t>(token.begin);
    *next_span_++ = static_cast<int64_t>(token.end);
  }
  tokens_.clear();
}

void PieceEncoder::make_room() {
  if (next_id_ + WordCache::kMostTokens > room_ids_.get() + kRoom) finish();
}

void PieceEncoder::finish() {
  if (fields_ == TokenFields::kCounts) return;
  ids_.insert(ids_.end(), room_ids_.get(), next_id_);
  next_id_ = room_ids_.get();
  if (fields_ != TokenFields::kByteSpans) return;
  spans_.insert(spans_.end(), room_spans_.get(), next_span_);
  next_span_ = room_spans_.get();
}

}  // namespace pychunk
