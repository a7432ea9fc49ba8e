#include "parsing/json_lines.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <unordered_map>

#include "common/dispatch.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;

// Return the top bits of the bytes at p that end a plain run of a string: quotes, backslashes, control characters. The
// lowest set bit is exact. Those above it may be false alarms.
uint64_t specials(const char* p) {
  uint64_t x;
  std::memcpy(&x, p, 8);
  const uint64_t quote = x ^ (kOnes * '"'), slash = x ^ (kOnes * '\\');
  return (((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash) | ((x - kOnes * 0x20) & ~x)) & kTops;
}

// The byte order is little-endian on all machines that pychunk supports, so the lowest set bit is the first byte.
int first_byte(uint64_t bits) { return __builtin_ctzll(bits) / 8; }

struct Failure {
  const char* what;
  const char* at;
};

// The reader of one line's object. Functions that return a bool return whether they succeeded. If not, `failure` holds
// the reason, because an exception would cost more than the line.
class Line {
 public:
  // `limit` is the end of the bytes that may be read. Bytes after the line are read but not used.
  Line(const char* begin, const char* end, const char* limit) : at_(begin), end_(end), limit_(limit) {}

  // For each key, read() calls entry(key, surrogate, column), in which `surrogate` says whether the key contains a lone
  // surrogate. This call sets the column to which the value is appended, if any, and returns an error or null. After
  // each value, read() calls done(column, kind, begin, end), in which begin is null for strings.
  template <typename Entry, typename Done>
  bool read(Entry&& entry, Done&& done) {
    skip_space();
    if (at_ == end_ || *at_ != '{') return fail("a line must hold one JSON object", at_);
    ++at_;
    skip_space();
    if (at_ < end_ && *at_ == '}') {
      ++at_;
    } else {
      for (;;) {
        char next = 0;
        if (!member(entry, done) || !take(next, kEndsInObject)) return false;
        if (next == '}') break;
        if (next != ',') return fail("expected , or }", at_ - 1);
        skip_space();
      }
    }
    skip_space();
    return at_ == end_ || fail("a line must hold one JSON object, and more follows", at_);
  }

  Failure failure{};

 private:
  static constexpr const char* kEndsInObject = "the line ends inside its object";
  static constexpr const char* kEndsInString = "the line ends inside a string";

  bool fail(const char* what, const char* at) {
    failure = {what, at};
    return false;
  }

  // Read a key, its value and the white space after it.
  template <typename Entry, typename Done>
  bool member(Entry& entry, Done& done) {
    if (at_ == end_ || *at_ != '"') return fail("expected a key", at_);
    key_.clear();
    // Most keys have no escape. These are compared in place.
    const char* begin = ++at_;
    bool surrogate = false;
    std::string_view key;
    if (const char* close = plain_string()) {
      key = {begin, static_cast<size_t>(close - begin)};
    } else {
      at_ = begin;
      if (!string(&key_, surrogate)) return false;
      key = {reinterpret_cast<const char*>(key_.data()), key_.size()};
    }
    if (!colon()) return false;
    JsonColumn* column = nullptr;
    if (const char* problem = entry(key, surrogate, column)) return fail(problem, nullptr);
    if (at_ == end_) return fail(kEndsInObject, at_);
    if (*at_ == '"') {
      ++at_;
      bool lone = false;
      if (!string(column == nullptr ? nullptr : &column->values, lone)) return false;
      done(column, lone ? JsonKind::kSurrogate : JsonKind::kString, nullptr, nullptr);
    } else {
      const char* value = at_;
      JsonKind kind{};
      if (!other(kind)) return false;
      done(column, kind, value, at_);
    }
    skip_space();
    return true;
  }

  bool colon() {
    skip_space();
    char next = 0;
    if (!take(next, kEndsInObject)) return false;
    if (next != ':') return fail("expected :", at_ - 1);
    skip_space();
    return true;
  }

  // Skip a string without escapes and return its closing quote, or null if it has escapes or does not end.
  const char* plain_string() {
    for (const char* p = at_;; p += 8) {
      if (p + 8 > limit_) return nullptr;
      const uint64_t found = specials(p);
      if (found == 0) continue;
      p += first_byte(found);
      if (p >= end_ || *p != '"') return nullptr;
      at_ = p + 1;
      return p;
    }
  }

  // Skip the string whose opening quote was read. `out` receives it unescaped, `lone` whether it contains a lone
  // surrogate.
  bool string(Values<uint8_t>* out, bool& lone) {
    for (;;) {
      const char* run = at_;
      while (at_ + 8 <= limit_) {
        const uint64_t found = specials(at_);
        if (found != 0) {
          at_ += first_byte(found);
          break;
        }
        at_ += 8;
      }
      while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
      if (at_ >= end_) return fail(kEndsInString, end_);
      if (out != nullptr) out->insert(out->end(), run, at_);
      const char c = *at_++;
      if (c == '"') return true;
      if (c != '\\') return fail("a control character inside a string", at_ - 1);
      if (!escape(out, lone)) return false;
    }
  }

  bool escape(Values<uint8_t>* out, bool& lone) {
    char c = 0;
    if (!take(c, kEndsInString)) return false;
    static constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const size_t which = kNames.find(c);
    if (which != std::string_view::npos) {
      if (out != nullptr) out->push_back(static_cast<uint8_t>(kMeant[which]));
      return true;
    }
    if (c != 'u') return fail("an unknown escape", at_ - 1);
    uint32_t code = 0;
    if (!four_digits(code)) return false;
    if (code >= 0xD800 && code < 0xDC00 && at_ + 6 <= end_ && at_[0] == '\\' && at_[1] == 'u') {
      const char* before = at_;
      at_ += 2;
      uint32_t low = 0;
      if (!four_digits(low)) return false;
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      } else {
        at_ = before;
      }
    }
    if (code >= 0xD800 && code < 0xE000) lone = true, code = 0xFFFD;
    if (out != nullptr) append(code, *out);
    return true;
  }

  bool four_digits(uint32_t& code) {
    for (int i = 0; i < 4; ++i) {
      char c = 0;
      if (!take(c, kEndsInString)) return false;
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return fail("\\u needs four hexadecimal digits", at_ - 1);
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    return true;
  }

  static void append(uint32_t code, Values<uint8_t>& out) {
    uint8_t bytes[4];
    const int length = encode_utf8(code, bytes);
    out.insert(out.end(), bytes, bytes + length);
  }

  // Skip a value that is no string. Arrays and objects are skipped with their contents, and their kinds are on a stack
  // of bits.
  bool other(JsonKind& kind) {
    if (*at_ != '{' && *at_ != '[') return scalar(kind);
    kind = *at_ == '{' ? JsonKind::kObject : JsonKind::kArray;
    int depth = 1;  // the line's own object is a level
    // Each turn begins at an element. With `first`, an array or object has just begun and may end here, because it is
    // empty.
    bool first = false;
    for (;;) {
      const bool object = depth > 1 && objects_[static_cast<size_t>(depth)];
      bool closed = false;
      if (first && at_ < end_ && *at_ == (object ? '}' : ']')) {
        ++at_;
        closed = true;
      } else {
        bool lone = false;
        if (object) {
          if (at_ == end_ || *at_ != '"') return fail("expected a key", at_);
          ++at_;
          if (!string(nullptr, lone) || !colon()) return false;
        }
        if (at_ == end_) return fail(kEndsInObject, at_);
        if (*at_ == '{' || *at_ == '[') {
          if (++depth > kJsonDepth) return fail("it nests deeper than 512 levels", at_);
          objects_[static_cast<size_t>(depth)] = *at_ == '{';
          ++at_;
          skip_space();
          first = true;
          continue;
        }
        if (*at_ == '"') {
          ++at_;
          if (!string(nullptr, lone)) return false;
        } else {
          JsonKind element{};
          if (!scalar(element)) return false;
        }
      }
      for (;;) {
        if (closed && --depth == 1) return true;
        skip_space();
        char next = 0;
        if (!take(next, kEndsInObject)) return false;
        closed = next == (objects_[static_cast<size_t>(depth)] ? '}' : ']');
        if (closed) continue;
        if (next != ',') return fail("expected , or the end of an array or object", at_ - 1);
        break;
      }
      skip_space();
      first = false;
    }
  }

  bool scalar(JsonKind& kind) {
    for (const auto& [word, meaning] : {std::pair<std::string_view, JsonKind>{"null", JsonKind::kNull},
                                        {"true", JsonKind::kBoolean},
                                        {"false", JsonKind::kBoolean},
                                        {"NaN", JsonKind::kFloat},
                                        {"Infinity", JsonKind::kFloat},
                                        {"-Infinity", JsonKind::kFloat}})
      if (*at_ == word[0] && std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) {
        at_ += word.size();
        kind = meaning;
        return true;
      }
    const char* begin = at_;
    kind = JsonKind::kInteger;
    if (*at_ == '-') ++at_;
    bool fine = true;
    if (at_ < end_ && *at_ == '0') {
      ++at_;
    } else {
      fine = digits();
    }
    if (at_ < end_ && *at_ == '.') ++at_, kind = JsonKind::kFloat, fine &= digits();
    if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_, kind = JsonKind::kFloat;
      if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      fine &= digits();
    }
    return fine || fail("this is not a JSON value", begin);
  }

  bool digits() {
    const char* begin = at_;
    while (at_ < end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ > begin;
  }

  void skip_space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }

  bool take(char& next, const char* otherwise) {
    if (at_ == end_) return fail(otherwise, at_);
    next = *at_++;
    return true;
  }

  const char *at_, *end_, *limit_;
  Values<uint8_t> key_;
  std::bitset<kJsonDepth + 1> objects_;
};

bool is_blank(const char* begin, const char* end) {
  return std::all_of(begin, end, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

// Call line(number, begin, end) for each line of valid UTF-8 that is not blank, and fault(number, begin, end, byte) for
// each line of invalid UTF-8.
template <typename OnLine, typename OnFault>
void each_line(std::string_view data, OnLine&& line, OnFault&& fault) {
  const char *at = data.data(), *const end = at + data.size();
  const auto next_invalid = [&](const char* from) {
    const int64_t found =
        kernels().find_invalid_utf8(reinterpret_cast<const uint8_t*>(from), static_cast<size_t>(end - from));
    return found < 0 ? end : from + found;
  };
  const auto find = [&](const char* from, const char* to, char c) {
    const void* found = from == to ? nullptr : std::memchr(from, c, static_cast<size_t>(to - from));
    return found == nullptr ? to : static_cast<const char*>(found);
  };
  const char *invalid = next_invalid(at), *feed = at, *carriage = at;  // next invalid byte, line feed, carriage return
  bool feeds = true, carriages = true;
  int64_t number = 0;
  for (; at < end; ++number) {
    if (feeds && feed <= at) feed = find(at, end, '\n'), feeds = feed != end;
    if (carriages && carriage <= at) carriage = find(at, end, '\r'), carriages = carriage != end;
    if (!feeds) feed = end;
    if (!carriages) carriage = end;
    const char* stop = std::min(feed, carriage);
    if (!is_blank(at, stop)) {
      if (invalid < stop) {
        fault(number, at, stop, invalid - at);
      } else {
        line(number, at, stop);
      }
    }
    if (invalid < stop) invalid = next_invalid(stop);
    at = stop + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
  }
}

}  // namespace

JsonRows read_json_lines(std::string_view data, const std::vector<std::string>& wanted) {
  JsonRows out;
  out.columns.resize(wanted.size());
  for (JsonColumn& column : out.columns) column.offsets.push_back(0);
  const char* limit = data.data() + data.size();
  std::vector<uint8_t> kinds(wanted.size());
  each_line(
      data,
      [&](int64_t number, const char* begin, const char* end) {
        std::fill(kinds.begin(), kinds.end(), uint8_t{0});
        Line line(begin, end, limit);
        const bool fine = line.read(
            [&](std::string_view key, bool surrogate, JsonColumn*& column) -> const char* {
              if (surrogate) return nullptr;
              for (size_t i = 0; i < wanted.size(); ++i) {
                if (wanted[i] != key) continue;
                if (kinds[i] != 0) return "a key that is read occurs twice";
                column = &out.columns[i];
              }
              return nullptr;
            },
            [&](JsonColumn* column, JsonKind kind, const char* from, const char* to) {
              if (column == nullptr) return;
              kinds[static_cast<size_t>(column - out.columns.data())] = static_cast<uint8_t>(kind);
              if (from != nullptr && kind != JsonKind::kNull) column->values.insert(column->values.end(), from, to);
            });
        if (!fine) {
          for (JsonColumn& column : out.columns) column.values.resize(static_cast<size_t>(column.offsets.back()));
          std::string reason = line.failure.what;
          if (line.failure.at != nullptr)
            reason += ", at byte " + std::to_string(line.failure.at - begin) + " of the line";
          const char* base = data.data();
          out.faults.push_back({number, begin - base, end - base, std::move(reason)});
          return;
        }
        out.spans.insert(out.spans.end(), {number, begin - data.data(), end - data.data()});
        for (size_t i = 0; i < wanted.size(); ++i) {
          out.columns[i].kinds.push_back(kinds[i]);
          out.columns[i].offsets.push_back(static_cast<int64_t>(out.columns[i].values.size()));
        }
      },
      [&](int64_t number, const char* begin, const char* end, int64_t byte) {
        const char* base = data.data();
        out.faults.push_back(
            {number, begin - base, end - base, "invalid UTF-8 at byte " + std::to_string(byte) + " of the line"});
      });
  return out;
}

std::vector<std::pair<std::string, int>> json_keys(std::string_view data) {
  std::vector<std::pair<std::string, int>> keys;
  std::unordered_map<std::string, size_t> places;
  std::vector<std::pair<std::string, JsonKind>> found;
  const char* limit = data.data() + data.size();
  each_line(
      data,
      [&](int64_t, const char* begin, const char* end) {
        found.clear();
        bool kept = false;
        Line line(begin, end, limit);
        const bool fine = line.read(
            [&](std::string_view key, bool surrogate, JsonColumn*&) -> const char* {
              kept = !surrogate;
              if (kept) found.emplace_back(key, JsonKind::kMissing);
              return nullptr;
            },
            [&](JsonColumn*, JsonKind kind, const char*, const char*) {
              if (kept) found.back().second = kind;
            });
        if (!fine) return;
        for (auto& [key, kind] : found) {
          const auto [place, added] = places.try_emplace(key, keys.size());
          if (added) keys.emplace_back(key, 0);
          keys[place->second].second |= 1 << static_cast<int>(kind);
        }
      },
      [](int64_t, const char*, const char*, int64_t) {});
  return keys;
}

}  // namespace pychunk
