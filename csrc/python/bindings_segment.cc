// The chunk pipeline for Python. A Request is read attribute by attribute, and one call without the GIL returns
// columns.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/work_counters.h"
#include "document/kept_sentences.h"
#include "document/sections.h"
#include "document/sentence_table.h"
#include "methods/methods.h"
#include "methods/threshold.h"
#include "python/bindings.h"
#include "segment/pipeline.h"
#include "vectors/static_encoder.h"
#include "vectors/topic.h"

namespace pychunk {
namespace {

// Return a literal as a string of Python, which is made only once: that takes longer than to read an attribute.
PyObject* name_of(const char* literal) {
  static auto* const names = new std::unordered_map<const char*, PyObject*>;  // guarded by the GIL, never destroyed
  PyObject*& name = (*names)[literal];
  if (name == nullptr) name = PyUnicode_InternFromString(literal);
  if (name == nullptr) throw py::error_already_set();
  return name;
}

py::object attribute_of(const py::handle& owner, const char* literal) {
  PyObject* const found = PyObject_GetAttr(owner.ptr(), name_of(literal));
  if (found == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(found);
}

// Return the object of the core that Python holds, or null for None. pybind11 would first ask None for attributes.
template <typename T>
T* native_of(const py::object& value) {
  return value.is_none() ? nullptr : value.cast<T*>();
}

template <typename T>
T named(std::initializer_list<std::pair<std::string_view, T>> names, const py::object& plan, const char* key) {
  const auto value = plan.attr(key).cast<std::string>();
  for (const auto& [name, meant] : names)
    if (name == value) return meant;
  fail("unknown ", key, " '", value, "'");
}

void check_ids(std::span<const int32_t> ids, int64_t known, const char* name) {
  for (const int32_t id : ids) PYCHUNK_CHECK(id >= 0 && id < known, name, " must be less than ", known, ", got ", id);
}

// Read a plan from pychunk._engine.data.plan.Plan. If the method is not native, its cuts must be given.
Plan read_plan(const py::object& from, bool cuts_given) {
  Plan plan;
  const auto name = from.attr("method").cast<std::string>();
  const auto native = [&](const Method& method) { return method.name == name; };
  const bool foreign = cuts_given && std::none_of(methods().begin(), methods().end(), native);
  plan.within = named<Within>(
      {{"size", Within::kSize}, {"topic", Within::kTopic}, {"semantic", Within::kSemantic}, {"nsp", Within::kNsp}},
      from, "within");
  plan.method = method_named(foreign ? "precomputed" : name, plan.within);
  const py::object wrap = from.attr("unwrap_lines");
  plan.wrap = py::isinstance<py::str>(wrap) ? Wrap::kAuto : wrap.cast<bool>() ? Wrap::kOn : Wrap::kOff;
  plan.unit = unit_from(from.attr("unit").cast<std::string>());
  plan.size = from.attr("size").cast<int64_t>();
  plan.separators = from.attr("separators").cast<std::vector<std::string>>();
  plan.threshold = named<ThresholdKind>({{"value", ThresholdKind::kValue},
                                         {"percentile", ThresholdKind::kPercentile},
                                         {"std", ThresholdKind::kStd},
                                         {"iqr", ThresholdKind::kIqr},
                                         {"gradient", ThresholdKind::kGradient}},
                                        from, "threshold");
  plan.threshold_value = from.attr("threshold_value").cast<double>();
  plan.window = from.attr("window").cast<int64_t>();
  plan.summary = named<SummarySource>({{"given", SummarySource::kGiven},
                                       {"mean", SummarySource::kMean},
                                       {"lead", SummarySource::kLead},
                                       {"extractive", SummarySource::kExtractive},
                                       {"random", SummarySource::kRandom},
                                       {"sentence", SummarySource::kSentence}},
                                      from, "summary");
  plan.k = from.attr("k").cast<double>();
  plan.summaries_out = from.attr("summaries_out").cast<bool>();
  plan.max_tokens = from.attr("max_tokens").cast<int64_t>();
  plan.min_tokens = from.attr("min_tokens").cast<int64_t>();
  plan.overlap = from.attr("overlap").cast<int64_t>();
  plan.auto_limits = from.attr("auto_limits").cast<bool>();
  plan.keep_together = from.attr("keep_together").cast<bool>();
  plan.min_characters = from.attr("min_characters").cast<int64_t>();
  plan.balance = from.attr("balance").cast<bool>();
  plan.chunk_vectors = from.attr("chunk_vectors").cast<bool>();
  plan.sentence_vectors = from.attr("sentence_vectors").cast<bool>();
  return plan;
}

// Return the plan, read once if calls have the same one. Plans do not change, and reading one takes 3 us.
const Plan& plan_from(const py::object& from, bool cuts_given = false) {
  struct Last {
    py::object from;
    bool cuts_given;
    Plan plan;
  };
  static Last* last = nullptr;  // guarded by the GIL, and never destroyed, because Python ends first
  if (last == nullptr || !last->from.is(from) || last->cuts_given != cuts_given) {
    auto* read = new Last{from, cuts_given, read_plan(from, cuts_given)};
    delete std::exchange(last, read);
  }
  return last->plan;
}

// The weights of a pair head, which it keeps alive.
struct KeptHead {
  Array<float> first, second, product, bias, out;
  PairHead head;
  KeptHead(Array<float> a, Array<float> b, Array<float> c, Array<float> offset, Array<float> output, float out_bias)
      : first(std::move(a)),
        second(std::move(b)),
        product(std::move(c)),
        bias(std::move(offset)),
        out(std::move(output)),
        head{matrix(first, "first"),
             matrix(second, "second"),
             matrix(product, "product"),
             view(bias),
             view(out),
             out_bias} {
    for (const auto& part : {head.first, head.second, head.product})
      PYCHUNK_CHECK(part.rows == bias.size() && part.cols == head.first.cols && bias.size() == out.size(),
                    "the parts of a pair head must be [hidden, dim] and [hidden], got [", part.rows, ", ", part.cols,
                    "], [", bias.size(), "] and [", out.size(), "]");
  }
};

// The data that Python passes in, as views. The arrays of all views are kept alive.
class Arguments {
 public:
  Arguments(const py::object& request, const py::object& tokenizer, const py::object& counter, const py::object& head,
            const py::object& topic, const Optional<uint8_t>& flags)
      : features_(attribute_of(request, "features")),
        cuts_(attribute_of(request, "cuts")),
        kept_{tokenizer, counter, head, topic} {
    plan_ = plan_from(attribute_of(request, "plan"), !cuts_.is_none());
    in_.tokenizer = native_of<const WordPiece>(tokenizer);
    in_.counter = native_of<const TokenCounter>(counter);
    in_.first_row = attribute_of(request, "first_row").cast<int64_t>();
    in_.threads = attribute_of(request, "threads").cast<int>();
    in_.kept = native_of<KeptSentences>(attribute_of(request, "kept"));
    in_.texts = texts(array<uint8_t>(features_, "text"), array<int64_t>(features_, "offsets"));
    take_models(request, native_of<const KeptHead>(head), topic_head_of(topic), flags);
    take_features(request);
    take_cuts();
    check();
  }

  Inputs inputs() const {
    Inputs in = in_;
    in.plan = &plan_;
    return in;
  }

 private:
  // Return the array that an attribute holds, and keep it alive.
  template <typename T>
  Array<T> array(const py::object& owner, const char* name) {
    py::object value = attribute_of(owner, name);
    if (!py::isinstance<Array<T>>(value))
      throw py::type_error(std::string(name) + " must be a C-contiguous array of " +
                           std::string(py::str(py::dtype::of<T>())));
    kept_.push_back(value);
    return py::reinterpret_borrow<Array<T>>(value);
  }

  void one_each(int64_t got, const char* name) const {
    PYCHUNK_CHECK(got == in_.texts.size(), name, " must hold one entry for each of ", in_.texts.size(),
                  " documents, got ", got);
  }

  template <typename T>
  void ragged(const py::object& owner, const char* attribute, const char* name, Ragged<T>& out) {
    const py::object value = attribute_of(owner, attribute);
    if (value.is_none()) return;
    const auto values = array<T>(value, "values");
    out = {view(values), view(array<int64_t>(value, "offsets"))};
    check_offsets(out.offsets, values.size(), name);
    one_each(out.size(), name);
  }

  void rows(const py::object& owner, const char* attribute, const char* name, RaggedRows& out) {
    const py::object value = attribute_of(owner, attribute);
    if (value.is_none()) return;
    const auto offsets = view(array<int64_t>(value, "offsets"));
    if (py::hasattr(value, "pieces")) {
      take_raw(attribute_of(value, "pieces"), offsets, out);
    } else {
      out = {matrix(array<float>(value, "values"), name), offsets, {}};
    }
    check_offsets(out.offsets, out.rows.rows, name);
    one_each(static_cast<int64_t>(out.offsets.size()) - 1, name);
  }

  // Take rows as the caller has them: one array for all documents, or one for each (pychunk/inputs/given_vectors.py).
  void take_raw(const py::list& pieces, std::span<const int64_t> offsets, RaggedRows& out) {
    std::vector<RawRows> all;
    for (const py::handle piece : pieces) {
      const auto array = py::cast<py::array>(piece);
      PYCHUNK_CHECK(array.ndim() == 2 && array.dtype().kind() == 'f' && array.itemsize() <= 4,
                    "pieces must be float32[n, d] or float16[n, d], got ", array.ndim(), " dimensions of ",
                    array.itemsize(), " bytes");
      kept_.push_back(array);
      all.push_back({static_cast<const char*>(array.data()), array.shape(0), array.shape(1), array.strides(0),
                     array.strides(1), array.itemsize() == 2});
      out.rows.rows += array.shape(0);
      if (array.shape(0) > 0 || out.rows.cols == 0) out.rows.cols = array.shape(1);
    }
    out.offsets = offsets;
    if (all.size() == 1) {
      check_offsets(offsets, out.rows.rows, "sentence_vectors");
      const RawRows whole = all.front();
      all.clear();
      for (size_t i = 0; i + 1 < offsets.size(); ++i) {
        RawRows& own = all.emplace_back(whole);
        own.data += offsets[i] * whole.row_stride, own.rows = offsets[i + 1] - offsets[i];
      }
    }
    PYCHUNK_CHECK(all.size() + 1 == offsets.size(), "sentence_vectors must be one array, or one for each of ",
                  offsets.size() - 1, " documents, got ", all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      PYCHUNK_CHECK(all[i].rows == offsets[i + 1] - offsets[i] && (all[i].rows == 0 || all[i].cols == out.rows.cols),
                    "the array of document ", i, " must be float[", offsets[i + 1] - offsets[i], ", ", out.rows.cols,
                    "], got ", all[i].rows, " rows of ", all[i].cols);
    }
    raw_ = std::move(all);
    out.raw = raw_;
  }

  void text(const py::object& value, const char* name, Texts& out) {
    if (value.is_none()) return;
    out = texts(array<uint8_t>(value, "values"), array<int64_t>(value, "offsets"));
    one_each(out.size(), name);
  }

  void take_models(const py::object& request, const KeptHead* head, const TopicHead* topic,
                   const Optional<uint8_t>& flags) {
    if (!attribute_of(request, "table").is_none()) {
      in_.table = matrix(array<int8_t>(request, "table"), "table");
      PYCHUNK_CHECK(in_.tokenizer != nullptr, "a table needs a tokenizer, got none; pass one");
      PYCHUNK_CHECK(in_.table.rows >= in_.tokenizer->vocabulary_size(), "the table must have a row for each of ",
                    in_.tokenizer->vocabulary_size(), " tokens, got ", in_.table.rows);
    }
    if (flags) {
      PYCHUNK_CHECK(in_.tokenizer != nullptr && flags->size() >= in_.tokenizer->vocabulary_size(),
                    "fallback must hold a flag for each token, got ", flags->size());
      kept_.push_back(*flags);
      in_.fallback = view(*flags);
    }
    if (head != nullptr) in_.pair_head = &head->head;
    in_.topic_head = topic;
  }

  void take_features(const py::object& request) {
    text(attribute_of(request, "ids"), "ids", in_.ids);
    ragged(features_, "sentences", "sentence_spans", in_.sentences);
    ragged(features_, "flags", "flags", in_.flags);
    ragged(features_, "token_counts", "token_counts", in_.token_counts);
    in_.exact_counts = attribute_of(features_, "exact_counts").cast<bool>();
    ragged(features_, "pair_scores", "pair_scores", in_.pair_scores);
    ragged(features_, "page_starts", "page_starts", in_.page_starts);
    ragged(features_, "lower_limits", "lower_limits", in_.lower_limits);
    take_layout();
    take_token_ids();
    rows(features_, "vectors", "sentence_vectors", in_.vectors);
    rows(features_, "table_vectors", "table_vectors", in_.table_vectors);
    const py::object summaries = attribute_of(features_, "summaries");
    if (summaries.is_none()) return;
    if (py::hasattr(summaries, "offsets")) return text(summaries, "summaries", in_.summaries);
    in_.summary_vectors = matrix(array<float>(features_, "summaries"), "summaries");
    one_each(in_.summary_vectors.rows, "summaries");
    const int64_t dim = in_.vectors.given() ? in_.vectors.rows.cols : in_.table.cols;
    PYCHUNK_CHECK(in_.summary_vectors.cols == dim, "summaries must have ", dim,
                  " columns, like the sentence vectors, got ", in_.summary_vectors.cols);
  }

  void take_layout() {
    GivenLayout& layout = in_.layout;
    const auto spans = [&](const py::object& from, const char* name, std::span<const int64_t>& start,
                           std::span<const int64_t>& end) {
      start = view(array<int64_t>(from, "start")), end = view(array<int64_t>(from, "end"));
      const auto offsets = view(array<int64_t>(from, "offsets"));
      check_offsets(offsets, static_cast<int64_t>(start.size()), name);
      one_each(static_cast<int64_t>(offsets.size()) - 1, name);
      PYCHUNK_CHECK(start.size() == end.size(), name, " need an end for each of ", start.size(), " starts, got ",
                    end.size());
      return offsets;
    };
    if (const py::object removed = attribute_of(features_, "removed"); !removed.is_none())
      layout.removed_offsets = spans(removed, "removed", layout.removed.start, layout.removed.end);
    const py::object from = attribute_of(features_, "blocks");
    if (from.is_none()) return;
    BlockSpans& blocks = layout.blocks;
    layout.block_offsets = spans(from, "blocks", blocks.start, blocks.end);
    blocks.kind = view(array<int8_t>(from, "kind")), blocks.level = view(array<int16_t>(from, "level"));
    PYCHUNK_CHECK(blocks.kind.size() == blocks.start.size() && blocks.level.size() == blocks.start.size(),
                  "blocks need a kind and a level for each of ", blocks.start.size(), ", got ", blocks.kind.size(),
                  " kinds and ", blocks.level.size(), " levels");
    if (!attribute_of(from, "markup").is_none()) {
      blocks.markup = view(array<bool>(from, "markup"));
      PYCHUNK_CHECK(blocks.markup.size() == blocks.start.size(), "blocks need a markup flag for each of ",
                    blocks.start.size(), ", got ", blocks.markup.size());
    }
    for (const int8_t kind : blocks.kind)
      PYCHUNK_CHECK(kind >= 0 && kind <= kLastBlockKind, "the kind of a block must be from 0 to ",
                    static_cast<int>(kLastBlockKind), ", got ", static_cast<int>(kind));
  }

  void take_token_ids() {
    const py::object value = attribute_of(features_, "token_ids");
    if (value.is_none()) return;
    PYCHUNK_CHECK(in_.counter == nullptr, "token_ids need the counts of their own tokenizer, got a counter");
    const auto ids = array<int32_t>(value, "values");
    in_.token_ids = view(ids), in_.token_offsets = view(array<int64_t>(value, "offsets"));
    check_offsets(in_.token_offsets, ids.size(), "token_ids");
    PYCHUNK_CHECK(in_.token_offsets.size() == in_.token_counts.values.size() + 1,
                  "token_ids must hold the ids of each of ", in_.token_counts.values.size(), " sentences, got ",
                  in_.token_offsets.size() - 1);
    const auto known = in_.tokenizer == nullptr ? 0 : in_.tokenizer->vocabulary_size();
    check_ids(in_.token_ids, known, "token_ids");
  }

  // Return the small integers of an attribute, one for each cut.
  std::span<const int8_t> labels(const char* name, int low, int high, int64_t wanted) {
    if (attribute_of(cuts_, name).is_none()) return {};
    const auto found = view(array<int8_t>(cuts_, name));
    PYCHUNK_CHECK(static_cast<int64_t>(found.size()) == wanted, "cuts need a ", name, " for each of ", wanted,
                  " chunks, got ", found.size());
    for (const int8_t value : found)
      PYCHUNK_CHECK(value >= low && value <= high, "the ", name, " of a cut must be from ", low, " to ", high, ", got ",
                    static_cast<int>(value));
    return found;
  }

  void take_cuts() {
    if (cuts_.is_none()) return;
    GivenCuts& cuts = in_.cuts;
    const auto first = array<int32_t>(cuts_, "first");
    cuts.first = {view(first), view(array<int64_t>(cuts_, "offsets"))};
    check_offsets(cuts.first.offsets, first.size(), "cuts");
    one_each(cuts.first.size(), "cuts");
    cuts.relevance = labels("relevance", -1, 1, first.size());
    cuts.reason = labels("reason", 1, static_cast<int>(CutReason::kGiven), first.size());
    cuts.pairs = attribute_of(cuts_, "pairs").cast<bool>();
    ragged(cuts_, "score", "scores of cuts", cuts.score);
  }

  void check() const {
    // A batch without documents needs no scores: callers use one to learn the columns.
    PYCHUNK_CHECK(!plan_.method->pairs || in_.texts.size() == 0 || in_.cuts.given() || in_.pair_scores.size() > 0 ||
                      (in_.pair_head != nullptr && (in_.table.data != nullptr || in_.vectors.given())),
                  plan_.method->name,
                  " needs pair_scores, or a pair head with vectors or a table; got neither, so pass one");
    PYCHUNK_CHECK(in_.kept == nullptr || in_.texts.size() == 1, "kept sentences need one document, got ",
                  in_.texts.size());
    const Inputs in = inputs();
    PYCHUNK_CHECK(!plan_.method->topics || in.cuts.given() || in.pair_scores.size() > 0 || in.topic_head != nullptr,
                  plan_.method->name, " needs pair_scores, or a topic head; got neither, so pass one");
    PYCHUNK_CHECK(in.pair_head == nullptr || in.dim() == 0 || in.dim() == in.pair_head->first.cols,
                  "the pair head is for vectors of ", in.pair_head->first.cols, " dimensions, got ", in.dim());
    PYCHUNK_CHECK(in.topic_head == nullptr || !in.needs_vectors() || in.dim() == in.topic_head->vectors.rows,
                  "the topic head is for vectors of ", in.topic_head->vectors.rows, " dimensions, got ", in.dim());
    PYCHUNK_CHECK(!in.needs_vectors() || in.vectors.given() || in.table.data != nullptr || in.table_vectors.given(),
                  "the plan needs sentence vectors or a table; got neither, so pass one");
  }

  py::object features_, cuts_;
  std::vector<py::object> kept_;
  Plan plan_;
  std::vector<RawRows> raw_;
  Inputs in_;
};

py::dict segment_batch(const Arguments& arguments) {
  const Inputs in = arguments.inputs();
  PYCHUNK_CHECK(!in.counts_tokens() || in.tokenizer != nullptr || in.counter != nullptr,
                "the plan needs a tokenizer, got none; pass one");
  Table table = without_gil([&] { return segment(in); });
  const RaggedRows& given = in.table_vectors.given() ? in.table_vectors : in.vectors;
  const int64_t dim = given.given() ? given.rows.cols : in.table.cols;
  const py::capsule spans = owner_of(table.document);  // also owns all other buffers in its arena (table.cc)
  py::dict out;
  const auto set = [&out](const char* literal, const py::object& value) {
    if (PyDict_SetItem(out.ptr(), name_of(literal), value.ptr()) != 0) throw py::error_already_set();
  };
  set("document_index", array(std::move(table.document), spans));
  set("chunk_index", array(std::move(table.chunk), spans));
  set("chunk_id", array(std::move(table.chunk_id), spans));
  set("text_id", array(std::move(table.text_id), spans));
#define PYCHUNK_COLUMN(name, there, value) \
  if (there) set(#name, array(std::move(table.name), spans));
  PYCHUNK_WHOLE_COLUMNS(PYCHUNK_COLUMN)
#undef PYCHUNK_COLUMN
  set("text", array(std::move(table.text)));
  set("text_offsets", array(std::move(table.text_offsets), spans));
  set("relevance", array(std::move(table.relevance), spans));
  set("end_reason", array(std::move(table.end_reason), spans));
  set("score", array(std::move(table.score), spans));
  if (in.plan->chunk_vectors) {
    const int64_t rows = dim == 0 ? 0 : table.chunk_vectors.size / dim;
    set("vector", array(std::move(table.chunk_vectors), {rows, dim}));
  }
  if (in.plan->sentence_vectors) {
    const int64_t rows = table.sentence_start.size;
    set("sentence_offsets", array(std::move(table.sentence_offsets), spans));
    set("sentence_start", array(std::move(table.sentence_start)));
    set("sentence_end", array(std::move(table.sentence_end)));
    set("sentence_vectors", array(std::move(table.sentence_vectors), {rows, dim}));
  }
  if (in.plan->summaries_out) {
    set("summary_vector", array(std::move(table.summaries.vectors), {in.texts.size(), in.dim()}));
    set("summary_offsets", array(std::move(table.summaries.offsets)));
    set("summary_start", array(std::move(table.summaries.start)));
    set("summary_end", array(std::move(table.summaries.end)));
    set("summary_text", array(std::move(table.summaries.text)));
    set("summary_text_offsets", array(std::move(table.summaries.text_offsets)));
  }
  if (in.outlines()) {
    set("heading_text", array(std::move(table.outline.headings)));
    set("heading_offsets", array(std::move(table.outline.heading_offsets)));
    set("path", array(std::move(table.outline.path)));
    set("path_offsets", array(std::move(table.outline.path_offsets)));
    set("heading_parents", array(std::move(table.outline.heading_parents)));
    set("sections", array(std::move(table.outline.sections)));
    set("section_offsets", array(std::move(table.outline.section_offsets)));
    set("header", array(std::move(table.outline.headers)));
    set("header_offsets", array(std::move(table.outline.header_offsets)));
  }
  set("tokens_met", py::int_(table.tokens_met));
  set("fallback_tokens", py::int_(table.fallback_tokens));
  return out;
}

py::dict cuts_of_batch(const Arguments& arguments, bool held) {
  const Inputs inputs = arguments.inputs();
  const Method& method = *inputs.plan->method;
  const bool counts = method.tokens && inputs.token_counts.size() == 0;
  PYCHUNK_CHECK(inputs.tokenizer != nullptr || inputs.counter != nullptr ||
                    !(counts || (method.sized && inputs.plan->unit == Unit::kTokens)),
                "the plan needs a tokenizer, got none; pass one");
  CutTable table = without_gil([&] { return cuts(inputs, held); });
  py::dict out;
  if (!table.relevance.empty()) out["relevance"] = array(std::move(table.relevance));
  const Scores of = inputs.scores();
  if (of != Scores::kNone) {
    out["score"] = array(std::move(table.score));
    out["score_offsets"] = array(std::move(table.score_offsets));
  }
  out["pairs"] = of == Scores::kPairs;
  out["reason"] = array(std::move(table.reason));
  out["first"] = array(std::move(table.first));
  out["offsets"] = array(std::move(table.offsets));
  return out;
}

// Return the traits of native methods. pychunk._engine.data.plan.Traits must give the same ones.
py::dict traits() {
  py::dict out;
  for (const Method& method : methods()) {
    py::set needs;
    if (method.tokens) needs.add("tokens");
    if (method.vectors) needs.add("vectors");
    if (method.pairs) needs.add("pairs");
    if (method.topics) needs.add("topics");
    if (method.summaries) needs.add("summaries");
    if (method.cuts) needs.add("cuts");
    const char* const scores[] = {"", "sentences", "pairs"};
    const char* const reasons[] = {"end",  "score",  "sentence", "paragraph", "page",
                                   "size", "budget", "given",    "heading",   "removed"};
    out[py::str(std::string(method.name))] =
        py::make_tuple(py::frozenset(needs), scores[static_cast<int>(method.scores)],
                       reasons[static_cast<int>(method.reason)], method.sized, method.pages, method.outline);
  }
  return out;
}

// Read lists of pairs of Python. It runs no code of the caller's, so the lists cannot change meanwhile.
py::object span_pairs(const py::list& rows) {
  const auto is_list = [](PyObject* value) { return PyList_CheckExact(value) || PyTuple_CheckExact(value); };
  std::vector<int64_t> numbers, offsets{0};
  for (const py::handle row : rows) {
    if (!PyList_Check(row.ptr())) return py::none();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(row.ptr()); ++i) {
      PyObject* const pair = PyList_GET_ITEM(row.ptr(), i);
      if (!is_list(pair) || PySequence_Fast_GET_SIZE(pair) != 2) return py::none();
      for (Py_ssize_t side = 0; side < 2; ++side) {
        PyObject* const number = PySequence_Fast_GET_ITEM(pair, side);
        if (!PyLong_CheckExact(number)) return py::none();
        int overflow = 0;
        numbers.push_back(PyLong_AsLongLongAndOverflow(number, &overflow));
        if (overflow != 0) return py::none();
      }
    }
    offsets.push_back(static_cast<int64_t>(numbers.size() / 2));
  }
  return py::make_tuple(array(std::move(numbers)), array(std::move(offsets)));
}

}  // namespace

void bind_segment(py::module_& m) {
  py::class_<KeptHead>(
      m, "PairHead",
      "A network that computes next-sentence probabilities from static vectors; see csrc/vectors/nsp_head.h.")
      .def(py::init<Array<float>, Array<float>, Array<float>, Array<float>, Array<float>, float>(),
           py::arg("first").noconvert(), py::arg("second").noconvert(), py::arg("product").noconvert(),
           py::arg("bias").noconvert(), py::arg("out").noconvert(), py::arg("out_bias"));
  py::class_<KeptSentences>(m, "KeptSentences",
                            "The sentences of an edited document; see csrc/document/kept_sentences.h.")
      .def(py::init<>())
      .def(
          "keep",
          [](KeptSentences& kept, const Array<int64_t>& spans) {
            const Matrix<const int64_t> rows = matrix(spans, "spans");
            PYCHUNK_CHECK(rows.cols == 3, "spans must have three columns, got ", rows.cols);
            kept.spans.clear();
            for (int64_t i = 0; i < rows.rows; ++i)
              kept.spans.push_back({rows.row(i)[0], rows.row(i)[1], rows.row(i)[2]});
          },
          py::arg("spans").noconvert(),
          "Set the spans that the next document takes over: int64[k, 3], rows (first byte before, after, length).");
  py::class_<Arguments>(m, "Arguments",
                        "A checked Request with the arrays and models that it uses; see csrc/document/inputs.h.")
      .def(py::init<const py::object&, const py::object&, const py::object&, const py::object&, const py::object&,
                    const Optional<uint8_t>&>(),
           py::arg("request"), py::arg("tokenizer"), py::arg("counter"), py::arg("pair_head"), py::arg("topic_head"),
           py::arg("fallback").none(true).noconvert());
  m.def("segment", &segment_batch, py::arg("arguments"),
        "Return the columns of a batch's chunk table, as arrays by name; text and chunk_id are flat bytes.");
  m.def("cuts", &cuts_of_batch, py::arg("arguments"), py::arg("held") = false,
        "Return the arrays of pychunk._engine.data.cuts.Cuts by name.");
  m.def("method_traits", &traits, "Return the traits of native methods by name.");
  m.def(
      "work", [] { return py::make_tuple(work().split.load(), work().tokenized.load()); },
      "Return the bytes that were split into sentences, and tokenised, since the module was loaded.");
  m.def(
      "adjacent_sums",
      [](const Arguments& arguments) {
        const Inputs inputs = arguments.inputs();
        const AdjacentSums sums = without_gil([&] { return adjacent_sums(inputs); });
        return py::make_tuple(sums.sum, sums.count);
      },
      py::arg("arguments"),
      "Return (sum, count) of the scores between neighbours in a batch, the sum in units of 2^-32.");
  m.def(
      "thresholds",
      [](const py::object& plan, const Array<float>& scores, const Array<int64_t>& offsets, int threads) {
        check_offsets(view(offsets), scores.size(), "offsets");
        const Plan made = plan_from(plan);
        return array(without_gil([&] { return thresholds(made, {view(scores), view(offsets)}, threads); }));
      },
      py::arg("plan"), py::arg("scores").noconvert(), py::arg("offsets").noconvert(), py::arg("threads") = 1,
      "Return the threshold for each document's scores, float64[k]; NaN if there is none.");
  m.def(
      "split_sentences",
      [](const Arguments& arguments) {
        const Inputs inputs = arguments.inputs();
        SentenceTable table = without_gil([&] { return split(inputs); });
        return py::make_tuple(array(std::move(table.starts)), array(std::move(table.doc_offsets)),
                              array(std::move(table.flags)));
      },
      py::arg("arguments"),
      "Return (starts int64[n] in bytes, doc_offsets int64[k + 1], flags uint8[n]) of k documents; the text must be "
      "valid UTF-8.");
  m.def(
      "headings",
      [](const Arguments& arguments) {
        const Inputs inputs = arguments.inputs();
        Headings found = without_gil([&] { return headings(inputs); });
        return py::make_tuple(array(std::move(found.first)), array(std::move(found.offsets)),
                              array(std::move(found.level)), array(std::move(found.tied)));
      },
      py::arg("arguments"),
      "Return (first int64[m], offsets int64[k + 1], level uint8[m], tied uint8[n]) of k documents: their m sections, "
      "and whether each of their n sentences is kept together with the one before.");
  m.def("span_pairs", &span_pairs, py::arg("rows"),
        "Return (numbers int64[2 n], offsets int64[k + 1]) of k lists of pairs of whole numbers, or None if there is "
        "anything else in them.");
  m.def(
      "bytes_of_characters",
      [](const Array<uint8_t>& text, const Array<int64_t>& offsets, const Array<int64_t>& values,
         const Array<int64_t>& value_offsets, const std::string& what, int64_t first_row, int threads) {
        const Texts documents = texts(text, offsets);
        const Ragged<int64_t> characters{view(values), view(value_offsets)};
        check_offsets(characters.offsets, values.size(), what);
        PYCHUNK_CHECK(characters.size() == documents.size(), what, " must hold one entry for each of ",
                      documents.size(), " documents, got ", characters.size());
        return array(
            without_gil([&] { return bytes_of_characters(documents, characters, what.c_str(), first_row, threads); }));
      },
      py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("values").noconvert(),
      py::arg("value_offsets").noconvert(), py::arg("what"), py::arg("first_row"), py::arg("threads"),
      "Convert positions in characters of documents to bytes.");
  m.def(
      "encode_static",
      [](const Array<uint8_t>& text, const Array<int64_t>& offsets, const WordPiece& tokenizer,
         const Array<int8_t>& table, int threads) {
        const Texts documents = texts(text, offsets);
        const Matrix<const int8_t> rows = matrix(table, "table");
        PYCHUNK_CHECK(rows.rows >= tokenizer.vocabulary_size(), "the table must have a row for each of ",
                      tokenizer.vocabulary_size(), " tokens, got ", rows.rows);
        return array(without_gil([&] { return encode_static(documents, tokenizer, rows, threads); }),
                     {documents.size(), rows.cols});
      },
      py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("tokenizer"), py::arg("table").noconvert(),
      py::arg("threads") = 1, "Return the unit vectors of k texts, float32[k, dim].");
  m.def(
      "encode_passages",
      [](const Array<uint8_t>& text, const Array<int64_t>& offsets, const WordPiece& tokenizer,
         const Array<int8_t>& table, int threads) {
        const Texts documents = texts(text, offsets);
        const Matrix<const int8_t> rows = matrix(table, "table");
        PYCHUNK_CHECK(rows.rows >= tokenizer.vocabulary_size(), "the table must have a row for each of ",
                      tokenizer.vocabulary_size(), " tokens, got ", rows.rows);
        return array(without_gil([&] {
                       check_utf8(text, view(offsets));
                       return encode_passages(documents, tokenizer, rows, threads);
                     }),
                     {documents.size(), rows.cols});
      },
      py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("tokenizer"), py::arg("table").noconvert(),
      py::arg("threads") = 1,
      "Return the unit vectors of k texts, each as that of a chunk with this text, float32[k, dim].");
  m.def(
      "embedding_bags",
      [](const Array<int8_t>& table, const Array<int32_t>& ids, const Array<int64_t>& offsets, int threads) {
        const Matrix<const int8_t> rows = matrix(table, "table");
        check_offsets(view(offsets), ids.size(), "offsets");
        check_ids(view(ids), rows.rows, "ids");
        return array(without_gil([&] { return embedding_bags(rows, view(ids), view(offsets), threads); }),
                     {offsets.size() - 1, rows.cols});
      },
      py::arg("table").noconvert(), py::arg("ids").noconvert(), py::arg("offsets").noconvert(), py::arg("threads") = 1,
      "Return the unit vectors of n runs of token ids, float32[n, dim].");
  m.def(
      "weighted_bags",
      [](const Array<int16_t>& table, const Array<int32_t>& rows, const Array<float>& weights,
         const Array<int64_t>& offsets, int threads) {
        const Matrix<const int16_t> all = matrix(table, "table");
        check_offsets(view(offsets), rows.size(), "offsets");
        check_ids(view(rows), all.rows, "rows");
        PYCHUNK_CHECK(weights.size() == rows.size(), "weights must hold ", rows.size(), " values, got ",
                      weights.size());
        return array(without_gil([&] { return weighted_bags(all, view(rows), view(weights), view(offsets), threads); }),
                     {offsets.size() - 1, all.cols});
      },
      py::arg("table").noconvert(), py::arg("rows").noconvert(), py::arg("weights").noconvert(),
      py::arg("offsets").noconvert(), py::arg("threads") = 1,
      "Return the unit vectors of n runs of rows of a table, each row times its weight, float32[n, dim].");
}

}  // namespace pychunk
