// What the passes over wikitext share: the marks that they leave in the text for each other, and characters of ASCII.
#pragma once

namespace pychunk::wiki {

// Pages hold no control characters, so they are marks: text that was left out, a bar that is text and separates no
// arguments, a line break, a text that is held apart, and the beginning of a block. wikitext.py and the reference have
// the same; templates.py has others.
constexpr char kDropped = '\x01', kBar = '\x02', kBreak = '\x03', kHeld = '\x04', kBegins = '\x06';

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace pychunk::wiki
