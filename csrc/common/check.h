// The check that every entry point applies to its arguments.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace pychunk {

// A part of a message: a whole number, or text that must live until the exception is thrown. This class replaces
// std::ostream, whose header adds a quarter of a second to the compilation of every file with a check.
class Part {
 public:
  Part(const char* text) : text_(text) {}
  Part(std::string_view text) : text_(text) {}
  Part(const std::string& text) : text_(text) {}
  template <std::integral Number>
    requires(!std::same_as<Number, char>)
  Part(Number number) : number_(static_cast<int64_t>(number)), is_number_(true) {}

  std::string string() const { return is_number_ ? std::to_string(number_) : std::string(text_); }

 private:
  std::string_view text_;
  int64_t number_ = 0;
  bool is_number_ = false;
};

// Throws std::invalid_argument with a message joined from `parts`.
[[noreturn]] void fail_with(std::initializer_list<Part> parts);
template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  fail_with({parts...});
}

// Throws unless the condition holds, as in PYCHUNK_CHECK(n > 0, "n must be positive, got ", n).
#define PYCHUNK_CHECK(condition, ...)                      \
  do {                                                     \
    if (!(condition)) ::pychunk::fail_with({__VA_ARGS__}); \
  } while (false)

}  // namespace pychunk
