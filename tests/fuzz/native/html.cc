// A target for pages of HTML. For any text the walk returns what it shows, or that no parser wrote it. For a page as
// lexbor writes it, each visible letter comes out once and in order. Blocks follow each other, and elements are nested.
// The inputs of the noise model are values that the model accepts.
#include <cmath>

#include "fuzz.h"
#include "parsing/block_words.h"
#include "parsing/html/html_bytes.h"
#include "parsing/html/html_walk.h"
#include "parsing/html/html_work.h"
#include "parsing/noise_features.h"
#include "parsing/noise_names.h"
#include "tokens/length.h"

namespace {

struct Element {
  std::string_view name;
  bool empty = false;   // it has no end tag
  bool raw = false;     // its text is written unescaped
  bool unseen = false;  // its text is invisible
};
constexpr Element kElements[] = {
    {"div"},
    {"p"},
    {"b"},
    {"span"},
    {"a"},
    {"h1"},
    {"h3"},
    {"ul"},
    {"ol"},
    {"li"},
    {"pre"},
    {"listing"},
    {"blockquote"},
    {"table"},
    {"table"},
    {"table"},
    {"thead"},
    {"tr"},
    {"tr"},
    {"td"},
    {"td"},
    {"td"},
    {"th"},
    {"caption"},
    {"figcaption"},
    {"button"},
    {"form"},
    {"my-card"},
    {"svg"},
    {"br", true},
    {"hr", true},
    {"img", true},
    {"xmp", false, true},
    {"iframe", false, true, true},
    {"title", false, false, true},
    {"video", false, false, true},
};
constexpr std::string_view kAttributes[] = {"class", "id", "hidden", "style", "start", "colspan", "href", "role"};

void append_escaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\0':
        break;  // parsers leave none of these
      default:
        out += c;
    }
  }
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string letters_of(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (is_letter(c)) out += c;
  return out;
}

// A page drawn from the bytes, in the form in which lexbor writes its tree.
class Page {
 public:
  explicit Page(std::string_view drawn) {
    written = "<html>";
    while (!drawn.empty()) {
      const auto byte = static_cast<unsigned char>(drawn.front());
      drawn.remove_prefix(1);
      if (byte < 0x40) {
        text(take(drawn, byte % 16));
      } else if (byte < 0x80) {
        close();
      } else if (byte < 0x84) {
        written += byte % 2 ? "<!-- <p> -->" : "<?x y?>";
      } else {
        open(byte % std::size(kElements), drawn);
      }
    }
    while (!open_.empty()) close();
    written += "</html>";
    written = fuzz::valid(written);  // bytes that drew tags may have been parts of characters
  }

  std::string written;
  std::string seen;  // letters that the page shows, in order
  bool captions = false;
  bool heads = false;  // header cells, which are repeated over columns, and joined if rows have the same

 private:
  static std::string_view take(std::string_view& drawn, size_t most) {
    size_t size = std::min(most, drawn.size());
    while (size > 0 && !fuzz::border(drawn, static_cast<int64_t>(size))) --size;
    const std::string_view found = drawn.substr(0, size);
    drawn.remove_prefix(size);
    return found;
  }

  void text(std::string_view shown) {
    append_escaped(shown, written);
    if (unseen_ == 0) seen += letters_of(shown);
  }

  void open(size_t number, std::string_view& drawn) {
    const Element& element = kElements[number];
    if (foreign_ > 0 && (element.empty || element.raw)) return;
    written.append("<").append(element.name);
    for (size_t count = drawn.empty() ? 0 : static_cast<unsigned char>(drawn.front()) % 3; count > 0; --count) {
      const size_t which = drawn.empty() ? 0 : static_cast<unsigned char>(drawn.front()) % std::size(kAttributes);
      written.append(" ").append(kAttributes[which]).append("=\"");
      // A class such as copy-btn hides an element in code, which the letters drawn here do not know.
      std::string value;
      append_escaped(take(drawn, 9), value);
      if (value.find("copy") == value.npos) written += value;
      written += '"';
    }
    written += '>';
    captions |= element.name == "caption";
    heads |= element.name == "th" || element.name == "thead";
    if (element.empty) return;
    if (element.raw) {
      for (const char c : take(drawn, 12)) {
        if (c == '<' || c == '\0') continue;
        written += c;
        if (is_letter(c) && !element.unseen && unseen_ == 0) seen += c;
      }
      written.append("</").append(element.name).append(">");
      return;
    }
    // A button in code copies it, and is not shown.
    const bool code = std::ranges::any_of(
        open_, [](const Open& each) { return each.element->name == "pre" || each.element->name == "listing"; });
    open_.push_back({&element, element.unseen || (code && element.name == "button")});
    unseen_ += open_.back().unseen;
    foreign_ += element.name == "svg";
  }

  void close() {
    if (open_.empty()) return;
    const auto [last, unseen] = open_.back();
    const Element& element = *last;
    open_.pop_back();
    written.append("</").append(element.name).append(">");
    unseen_ -= unseen;
    foreign_ -= element.name == "svg";
  }

  struct Open {
    const Element* element;
    bool unseen;
  };
  std::vector<Open> open_;
  int unseen_ = 0, foreign_ = 0;
};

int64_t size_of(const auto& values) { return static_cast<int64_t>(values.size()); }

void check_walk(const pychunk::HtmlWalk& found) {
  using namespace pychunk;
  const int64_t elements = size_of(found.parent), blocks = size_of(found.rows) / 4;
  REQUIRE(size_of(found.last) == elements && size_of(found.word_offsets) == elements + 1, elements, " elements");
  REQUIRE(found.word_offsets.front() == 0 && found.word_offsets.back() == size_of(found.words), "offsets of words");
  REQUIRE(std::ranges::is_sorted(found.word_offsets), "offsets of words fall");
  for (int64_t i = 0; i < elements; ++i) {
    const auto e = static_cast<size_t>(i);
    REQUIRE(i < found.last[e] && found.last[e] <= elements, i, " ends at ", found.last[e], " of ", elements);
    REQUIRE(found.parent[e] < i && (found.parent[e] < 0) == (i == 0), i, " in ", found.parent[e]);
    if (i > 0)
      REQUIRE(found.last[e] <= found.last[static_cast<size_t>(found.parent[e])], i, " ends behind what is around it");
  }
  REQUIRE(size_of(found.rows) == 4 * blocks && size_of(found.facts) == 5 * blocks, blocks, " blocks");
  int64_t before = 0, element = -1;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t* row = found.rows.data() + 4 * i;
    const int32_t* facts = found.facts.data() + 5 * i;
    REQUIRE(row[0] >= 0 && row[0] <= kLastBlockKind && row[1] >= 0 && row[1] <= 32767, "kind or level of block ", i);
    const int64_t gap = row[2] - before;
    REQUIRE(i == 0 ? gap == 0 : gap == 1 || gap == 2, "block ", i, " begins at ", row[2], ", ", before, " was left");
    REQUIRE(row[2] < row[3], "block ", i, " has no text");
    REQUIRE(facts[0] > element && facts[0] < elements, "block ", i, " is element ", facts[0], " after ", element);
    REQUIRE(0 <= facts[2] && facts[2] <= facts[1] && facts[1] <= row[3] - row[2], "characters of block ", i);
    REQUIRE(facts[3] >= 0 && (facts[4] == 0 || facts[4] == 1), "facts of block ", i);
    before = row[3], element = facts[0];
  }
  REQUIRE(fuzz::characters(found.text) == (blocks == 0 ? 0 : before + 1), fuzz::characters(found.text), " characters");
  REQUIRE(fuzz::valid(found.text) == found.text && fuzz::valid(found.first_heading) == found.first_heading, "no UTF-8");
}

// The column `column` of rows of `width` values.
template <typename T>
std::vector<T> column_of(const auto& values, size_t width, size_t column) {
  std::vector<T> out;
  for (size_t i = column; i < values.size(); i += width) out.push_back(static_cast<T>(values[i]));
  return out;
}

// Checks the inputs of a noise model: elements that exist, numbers that it accepts.
void check_features(const pychunk::HtmlWalk& found, fuzz::Input& input) {
  using namespace pychunk;
  const auto kind = column_of<int8_t>(found.rows, 4, 0);
  const auto level = column_of<int16_t>(found.rows, 4, 1);
  const auto start = column_of<int64_t>(found.rows, 4, 2), end = column_of<int64_t>(found.rows, 4, 3);
  const auto element = column_of<int32_t>(found.facts, 5, 0), chars = column_of<int32_t>(found.facts, 5, 1);
  const auto linked = column_of<int32_t>(found.facts, 5, 2);
  const auto links = column_of<int16_t>(found.facts, 5, 3);
  const auto hidden = column_of<uint8_t>(found.facts, 5, 4);
  std::string texts;
  std::vector<int64_t> offsets{0};
  for (const char c : found.text) {  // blocks are made of lines
    texts += c;
    if (c == '\n' && size_of(offsets) < size_of(kind)) offsets.push_back(size_of(texts));
  }
  offsets.resize(kind.size() + 1, size_of(texts));
  offsets.back() = size_of(texts);
  const BlockWords words = block_words({texts.data(), offsets}, {"the\ncat", ".,", 12, 4});
  const std::vector<uint8_t> told(kind.size(), input.flag());
  const std::vector<int16_t> depth(found.parent.size(), 1);
  std::vector<uint32_t> title;
  for (size_t i = 0; i < words.hashes.size() && i < 3; ++i) title.push_back(words.hashes[i]);
  std::ranges::sort(title);
  const Ragged<uint32_t> names{found.words, found.word_offsets};
  const NoiseColumns columns = noise_columns({found.text,   start,       end,          kind,
                                              level,        8,           element,      chars,
                                              linked,       links,       hidden,       told,
                                              found.parent, found.last,  depth,        names,
                                              words.words,  words.stops, words.hashed, words.ends_sentence,
                                              words.hashes, title});
  const int64_t blocks = size_of(kind), elements = size_of(found.parent);
  REQUIRE(size_of(columns.dense) == blocks * columns.width && size_of(columns.like) == blocks, blocks, " blocks");
  for (const double value : columns.dense)
    REQUIRE(value >= -8 && value <= 8 && value * 64 == std::nearbyint(value * 64), "feature ", value);
  for (const auto* rows : {&columns.near, &columns.path, &columns.above})
    for (const int64_t row : *rows) REQUIRE(row >= -1 && row < elements, "element ", row, " of ", elements);
  int64_t most = -1;
  for (const int64_t copy : columns.copy) {
    REQUIRE(copy >= 0 && copy <= most + 1, "number of a text ", copy, " after ", most);
    most = std::max(most, copy);
  }
  if (found.words.empty()) return;
  std::vector<uint32_t> known(found.words.begin(), found.words.begin() + 1 + input.option(size_of(found.words)));
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const std::vector<int64_t> reasons(known.size(), 3);
  std::vector<int64_t> why(kind.size(), 9);
  put_reasons({names, found.last, element, chars}, {known, reasons}, why);
  for (const int64_t reason : why) REQUIRE(reason == 3 || reason == 9, "reason ", reason);
}

// Checks the places of keys and tags in any bytes.
void check_bytes(const std::string& page) {
  using namespace pychunk;
  const std::string_view keys[] = {"\"cats \"", "\"x\"", "\"\""};
  const auto places = find_keys(page, keys);
  for (size_t k = 0; k < std::size(keys); ++k) {
    std::vector<int64_t> wanted;
    for (size_t at = page.find(keys[k]); at != page.npos; at = page.find(keys[k], at + 1))
      wanted.push_back(static_cast<int64_t>(at));
    REQUIRE(places[k] == wanted, "places of ", keys[k]);
  }
  const int64_t half = size_of(page) / 2;
  const auto told = find_told({page, std::vector<int64_t>{0, half}, std::vector<int64_t>{half, half + 9}, page}, 1, 8);
  const bool is_plain = std::ranges::all_of(page, [](char c) { return c >= 'a' && c <= 'z'; });
  if (is_plain && half >= 8) REQUIRE(told[0] == kTold, "the beginning of a page of ", page.size(), " bytes");
  const HtmlWork work = html_work(page, {20, 5, 5, 5, 50});
  REQUIRE(work.nodes >= 0 && work.nodes <= 2000 + 6 * static_cast<int64_t>(page.size()), "nodes ", work.nodes);
}

void check_words(const fuzz::Documents& documents, fuzz::Input& input) {
  using namespace pychunk;
  const BlockWordOptions options{"the\ncat\nне", ".,!?\"\u2019\u2026", input.option(20), input.option(20)};
  const Texts texts = documents.texts();
  const BlockWords found = block_words(texts, options);
  int64_t first = 0;
  for (int64_t i = 0; i < texts.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t size = count_words(texts[i]);
    REQUIRE(found.words[at] == size, found.words[at], " words, and ", size);
    REQUIRE(found.stops[at] <= size && found.hashed[at] <= std::min(size, options.first + options.last), "text ", i);
    const std::string own(texts[i]);
    if (const auto lower = lower_of(own))
      REQUIRE(lower_of({reinterpret_cast<const char*>(lower->data()), lower->size()}) == lower, "text ", i);
    const int64_t offsets[] = {0, size_of(own)};
    const BlockWords alone = block_words({own.data(), offsets}, options);
    REQUIRE(alone.stops[0] == found.stops[at] && alone.ends_sentence[0] == found.ends_sentence[at] &&
                alone.hashed[0] == found.hashed[at] &&
                std::equal(alone.hashes.begin(), alone.hashes.end(), found.hashes.begin() + first),
            "text ", i, " alone differs");
    first += found.hashed[at];
  }
  REQUIRE(first == size_of(found.hashes), size_of(found.hashes), " hashes of ", first);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  const std::string text = fuzz::valid(input.bytes());
  if (input.option(4) == 0) {
    HtmlWalk any;
    if (walk_html(input.flag() ? "<html>" + text + "</html>" : text, input.flag(), input.flag(), any)) check_walk(any);
    check_words(fuzz::documents(text), input);
    check_bytes(input.bytes());
    return 0;
  }
  const Page page(text);
  HtmlWalk found;
  REQUIRE(walk_html(page.written, false, false, found), "not read: ", page.written);
  check_walk(found);
  check_features(found, input);
  check_bytes(page.written);
  std::string shown = letters_of(found.text), wanted = page.seen;
  if (page.captions || page.heads) std::ranges::sort(shown), std::ranges::sort(wanted);  // they are before their tables
  if (page.heads) {
    for (std::string* each : {&shown, &wanted}) each->erase(std::unique(each->begin(), each->end()), each->end());
  }
  REQUIRE(shown == wanted, "letters of ", found.text, " are not those of ", page.written);
  if (input.one_in(8)) {
    HtmlWalk broken;
    const std::string half = fuzz::valid(page.written.substr(0, page.written.size() / 2));
    REQUIRE(!walk_html(half, false, false, broken), "read half of a page: ", half);
  }
  return 0;
}
