"use strict";
// The page that shows chunks. Text of documents is only set as textContent and text nodes, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const VIRTUAL = 1e6; // the UTF-16 units of a document above which the page holds only the part near the window
  const SHEET = 16000; // the least UTF-16 units of a sheet, a part of the page that is filled and drawn at once
  const main = document.querySelector("main"), root = document.body;
  const narrow = matchMedia("screen and (max-width: 999px)");
  const state = { document: 0, method: -1, layer: 0, chunk: -1, query: -1 };
  let sheets = [], known = null;

  function make(tag, kind, text) {
    const found = document.createElement(tag);
    if (kind) found.className = kind;
    if (text !== undefined) found.textContent = text;
    return found;
  }
  const byId = (id) => document.getElementById(id);
  const short = (value) => value.toFixed(3).replace(/^-?0\.000$/, "0");
  const counted = (n, what) => n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");

  // Returns the index of the last number that is at most `value`, or -1. The numbers must ascend.
  function last(numbers, value) {
    let low = 0, high = numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[middle] <= value) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  // White space is defined as in pychunk, by Python's str.isspace.
  const BLANK = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*/y;
  function blankUntil(text, from) {
    BLANK.lastIndex = from;
    BLANK.test(text);
    return BLANK.lastIndex;
  }

  // Computes, once for each document, where each chunk's own text begins, and which boundaries all methods share.
  // A chunk's own text is the text that no earlier chunk contains.
  function study(doc) {
    if (doc.layers[0].own) return;
    const borders = doc.layers.map((layer) => {
      let reached = 0;
      layer.own = layer.s.map((start, k) => {
        // If the chunk begins with repeated text, its own text begins after the white space that follows it.
        const own = k === 0 || start >= reached ? start : Math.min(blankUntil(doc.text, reached), Math.max(reached, layer.e[k]));
        reached = Math.max(reached, layer.e[k]);
        return own;
      });
      return new Set(layer.own.slice(1));
    });
    doc.layers.forEach((layer, m) => {
      // A chunk inside the previous chunk has no text of its own, so it begins at no boundary.
      layer.shared = layer.own.map((at, k) =>
        k === 0 || (at !== layer.own[k - 1] && borders.every((each) => each.has(at))));
      // The positions at which other methods cut, but this method does not.
      const others = new Set();
      borders.forEach((each, other) => { if (other !== m) each.forEach((at) => borders[m].has(at) || others.add(at)); });
      layer.others = [...others].sort((a, b) => a - b);
      const curve = layer.curve;
      if (curve) {
        const values = curve.v.filter((v) => v !== null);
        if (curve.t !== null) values.push(curve.t);
        let low = Infinity, high = -Infinity;
        for (const v of values) { low = Math.min(low, v); high = Math.max(high, v); }
        layer.ends = values.length ? [low, high] : null;
        const room = (high - low) * .08 || .01;
        layer.range = [low - room, high + room];
      }
    });
  }

  // Returns the rows of the page. A row holds, for each method, the range of chunks between two boundaries that all
  // methods share: [[first, end] of method 0, [first, end] of method 1, ...].
  function rowsOf(doc) {
    const starts = doc.layers.map((layer) => layer.shared.reduce((all, is, k) => (is && all.push(k), all), []));
    const count = Math.max(1, ...starts.map((each) => each.length));
    const rows = [];
    for (let r = 0; r < count; r++)
      rows.push(doc.layers.map((layer, m) => [starts[m][r] ?? layer.s.length, starts[m][r + 1] ?? layer.s.length]));
    return rows;
  }

  const endOf = (layer, k) => Math.max(layer.own[k], layer.e[k]);

  function gapAfter(doc, layer, k) {
    const from = k < 0 ? 0 : layer.reach[k];
    const to = k + 1 < layer.s.length ? layer.own[k + 1] : doc.text.length;
    if (from >= to) return null;
    const text = doc.text.slice(from, to);
    const reasons = (layer.gone || []).filter(([a, b]) => a < to && b > from).map((each) => each[2] || "no reason given");
    if (!reasons.length) return make("span", blankUntil(text, 0) < text.length ? "gap rest t" : "gap t", text);
    const gone = make("span", "gap gone t", text);
    gone.title = "left out: " + [...new Set(reasons)].join(", ");
    return gone;
  }

  // Characters that would change the page's layout, or be invisible. ZWJ, ZWNJ and direction marks are not among them,
  // because some writing systems need them.
  const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]/g;

  const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

  function fillMark(mark, doc, layer, k) {
    const from = layer.own[k], to = endOf(layer, k), text = doc.text;
    const spans = [];
    if (k + 1 < layer.s.length && layer.s[k + 1] < to) spans.push([Math.max(from, layer.s[k + 1]), to, "over"]);
    if (state.query >= 0)
      for (const [c, , a, b] of (layer.hits?.[state.query] || [])) if (a < to && b > from) spans.push([a, b, "best"]);
    let found = 0;
    CONTROL.lastIndex = 0;
    const own = text.slice(from, to);
    for (let one; found < 2000 && (one = CONTROL.exec(own)); found++)
      spans.push([from + one.index, from + one.index + 1, "ctl"]);
    const ticks = [];
    for (let i = last(layer.others, from) + 1; i < layer.others.length && layer.others[i] < to; i++)
      ticks.push(layer.others[i]);
    if (!spans.length && !ticks.length) { mark.textContent = own; return; }
    const at = new Set([from, to]);
    for (const [a, b] of spans) { at.add(Math.max(a, from)); at.add(Math.min(b, to)); }
    for (const each of ticks) at.add(each);
    const cuts = [...at].sort((a, b) => a - b), ticked = new Set(ticks);
    spans.sort((a, b) => a[0] - b[0]);
    let open = [], next = 0;
    for (let i = 0; i + 1 < cuts.length; i++) {
      const a = cuts[i], b = cuts[i + 1];
      open = open.filter((span) => span[1] > a);
      while (next < spans.length && spans[next][0] <= a) open.push(spans[next++]);
      if (ticked.has(a)) {
        const tick = make("i", "tick");
        tick.title = "another method cuts here";
        mark.append(tick);
      }
      const kinds = open.filter((span) => span[1] > a).map((span) => span[2]);
      const piece = text.slice(a, b);
      if (!kinds.length) { mark.append(piece); continue; }
      const span = make("span", kinds.join(" "), piece);
      if (kinds.includes("ctl")) span.dataset.u = "U+" + piece.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      mark.append(span);
    }
  }

  // A chunk's number in its document is its position here, unless only some chunks are shown.
  const numberOf = (d, m, k) => data.documents[d].layers[m].n?.[k] ?? k;
  const placeOf = (d, m, number) => {
    const numbers = data.documents[d].layers[m].n;
    return numbers ? Math.max(0, last(numbers, number)) : number;
  };
  const hash = (d, m, k) =>
    "#" + (data.documents.length > 1 ? "d" + d : "") + (m > 0 ? "m" + m : "") + "c" + numberOf(d, m, k);

  // Returns why the text is cut before chunk k: the reason why chunk k - 1 ends, and the scores there.
  function why(layer, method, k) {
    if (k === 0) return "";
    let said = layer.cut ? data.reasons[layer.cut[k - 1]] ?? "" : "";
    const curve = layer.curve;
    if (!curve) return said;
    const i = last(curve.at, layer.own[k]);
    if (i < 1 || curve.at[i] !== layer.own[k]) return said;
    const v = curve.v[i - 1], w = curve.v[i], t = curve.t;
    if (v === null || (!method.pairs && w === null)) return said;
    if (method.pairs) {
      const than = t === null ? "" : v < t ? " < " + short(t) : " \u2265 " + short(t);
      return (said && said + " ") + short(v) + than;
    }
    const steps = [short(v), t === null ? "\u2192" : v < t ? "<" : "\u2265"];
    if (t !== null && (v < t) !== (w < t)) steps.push(short(t), v < t ? "\u2264" : ">");
    else steps[1] = "\u2192";
    return (said && said + " ") + [...steps, short(w)].join(" ");
  }

  function chunkOf(doc, m, k) {
    const layer = doc.layers[m], method = data.methods[m];
    const kind = layer.kind && layer.kind[k] >= 0 ? data.kinds[layer.kind[k]] : "";
    const box = make("div", "chunk " + (k % 2 ? "odd" : "even") + (kind && " " + kind) + (layer.shared[k] ? "" : " differs"));
    box.dataset.k = k;
    box.dataset.m = m;
    if (layer.depth) box.style.marginInlineStart = Math.min(layer.depth[k], 12) * 1.2 + "em";
    const head = make("div", "head"), link = make("a", "", "c" + numberOf(state.document, m, k));
    link.href = hash(state.document, m, k);
    head.append(link);
    const rank = (layer.hits?.[state.query] || []).findIndex((hit) => hit[0] === k);
    if (rank >= 0) head.append(make("span", "rank", "hit " + (layer.hits[state.query][rank][4])));
    if (kind) head.append(make("span", "kind", kind));
    if (layer.score && layer.score[k] !== null) head.append(make("span", "", short(layer.score[k])));
    if (layer.tokens && layer.tokens[k] !== null) head.append(make("span", "", counted(layer.tokens[k], "token")));
    const starts = layer.cs || layer.s, ends = layer.ce || layer.e;
    head.append(make("span", "", starts[k] + ":" + ends[k]));
    if (layer.s[k] < layer.own[k]) {
      const repeated = [...doc.text.slice(layer.s[k], Math.min(layer.reach[k - 1], layer.e[k]))].length;
      head.append(make("span", "", counted(repeated, "character") + " before, repeated"));
    }
    if (layer.path?.[k] && layer.path[k] !== layer.path[k - 1]) head.prepend(make("span", "path", layer.path[k]));
    const reason = why(layer, method, k);
    if (reason) head.append(make("span", "why", "cut: " + reason));
    const mark = make("mark", "t");
    fillMark(mark, doc, layer, k);
    box.append(head, mark);
    if (layer.curve) box.append(make("div", "curve"));
    return box;
  }

  function fill(sheet) {
    if (sheet.filled) return;
    sheet.filled = true;
    const doc = data.documents[state.document];
    const all = document.createDocumentFragment();
    for (const [r, row] of sheet.rows) {
      const long = Math.max(...row.map(([first, end]) => end - first)) > 100, line = make("div", long ? "row long" : "row");
      row.forEach(([first, end], m) => {
        const layer = doc.layers[m], cell = make("div", "cell m" + m + (layer.curve ? "" : " plain"));
        cell.hidden = hiddenMethod(m);
        const before = r === 0 ? gapAfter(doc, layer, -1) : null;
        if (before) cell.append(before);
        for (let k = first; k < end; k++) {
          cell.append(chunkOf(doc, m, k));
          const gap = gapAfter(doc, layer, k);
          if (gap) cell.append(gap);
        }
        line.append(cell);
      });
      all.append(line);
    }
    sheet.box.replaceChildren(all);
    sheet.box.style.height = "";
    if (state.chunk >= 0) markChosen(sheet.box);
  }

  function empty(sheet) {
    if (!sheet.filled) return;
    sheet.box.style.height = sheet.box.getBoundingClientRect().height + "px";
    sheet.box.replaceChildren();
    sheet.filled = sheet.drawn = false;
  }

  // Returns a function from a character's offset to its y, relative to the top of its mark. Within a line, y increases
  // from the line's top to its bottom along the reading direction.
  function measurer(mark, from) {
    const nodes = [], starts = [], walker = document.createTreeWalker(mark, NodeFilter.SHOW_TEXT);
    let at = from;
    while (walker.nextNode()) { nodes.push(walker.currentNode); starts.push(at); at += walker.currentNode.length; }
    const box = mark.getBoundingClientRect(), range = document.createRange();
    return (offset) => {
      if (offset <= from || !nodes.length) return 0;
      if (offset >= at) return box.height;
      const i = last(starts, offset), inside = offset - starts[i];
      range.setStart(nodes[i], inside);
      range.setEnd(nodes[i], Math.min(inside + 1, nodes[i].length));
      const rect = range.getClientRects()[0];
      if (!rect) return null;
      const along = RIGHT_TO_LEFT.test(nodes[i].data[inside]) ? box.right - rect.right : rect.left - box.left;
      return rect.top - box.top + rect.height * Math.min(1, Math.max(0, along / box.width));
    };
  }

  function shape(tag, facts) {
    const found = document.createElementNS(SVG, tag);
    for (const name in facts) found.setAttribute(name, facts[name]);
    return found;
  }

  function drawCurve(box, doc) {
    const layer = doc.layers[+box.dataset.m], k = +box.dataset.k, place = box.querySelector(".curve");
    if (!place || !layer.curve) return;
    const { at, v, t } = layer.curve, pairs = data.methods[+box.dataset.m].pairs;
    const from = layer.own[k], to = endOf(layer, k), mark = box.querySelector("mark");
    const width = place.clientWidth - 8, height = place.clientHeight, [low, high] = layer.range;
    const x = (value) => (4 + width * (value - low) / (high - low)).toFixed(1);
    const y = measurer(mark, from), drawing = shape("svg", { "aria-hidden": "true" });
    if (t !== null) drawing.append(shape("line", { class: "limit", x1: x(t), x2: x(t), y1: 0, y2: height }));
    const first = Math.max(0, last(at, from)), stop = last(at, to - 1);
    const after = k + 1 < layer.s.length ? layer.own[k + 1] : doc.text.length, points = [];
    let path = "", reached = 0;
    if (pairs && first > 0 && v[first - 1] !== null) path = "M" + x(v[first - 1]) + " 0";
    for (let i = first; i <= stop; i++) {
      const end = i + 1 < at.length ? Math.min(at[i + 1], to) : to;
      const bottom = Math.max(reached, y(end) ?? reached);
      // The score of a pair is drawn where its second sentence begins, unless the text is cut inside the first.
      if (v[i] !== null && !(pairs && (at[i + 1] ?? Infinity) > after)) {
        const middle = pairs ? bottom : (reached + bottom) / 2;
        path += (path ? "L" : "M") + x(v[i]) + " " + (pairs ? bottom : reached).toFixed(1);
        if (!pairs) path += "V" + bottom.toFixed(1);
        points.push([v[i], middle]);
      }
      reached = bottom;
    }
    if (path) drawing.append(shape("path", { d: path }));
    if (points.length <= 400)
      for (const [value, middle] of points) {
        const dot = shape("circle", { cx: x(value), cy: Math.min(middle, height - 3).toFixed(1), r: 2.6 });
        if (t !== null && value < t) dot.setAttribute("class", "low");
        const title = shape("title", {});
        title.textContent = short(value) + (t === null ? "" : (value < t ? " < " : " \u2265 ") + short(t));
        dot.append(title);
        drawing.append(dot);
      }
    place.replaceChildren(drawing);
  }

  function draw(sheet) {
    if (sheet.drawn || !sheet.filled) return;
    sheet.drawn = true;
    const doc = data.documents[state.document];
    for (const box of sheet.box.querySelectorAll(".cell:not([hidden]) > .chunk"))
      if (box.closest(".long") && !paper.matches) single.observe(box); else drawCurve(box, doc);
  }

  // In a row of very many chunks, chunks out of sight have no layout. Each curve is drawn when its chunk is in sight.
  const paper = matchMedia("print");
  const single = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) {
        single.unobserve(target);
        // The chunk has its layout in the frame after the next.
        const drawn = () => { if (target.isConnected) drawCurve(target, data.documents[state.document]); };
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      }
  });

  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const sheet = known.get(target);
      if (!sheet) continue;
      sheet.near = isIntersecting;
      if (isIntersecting) { fill(sheet); requestAnimationFrame(() => draw(sheet)); }
      else if (sheets.virtual) empty(sheet);
    }
  }, { rootMargin: "1200px 0px" });

  let width = 0;
  new ResizeObserver(() => {
    if (main.clientWidth === width) return;
    width = main.clientWidth;
    redraw();
  }).observe(main);

  function redraw() {
    for (const sheet of sheets) { sheet.drawn = false; if (sheet.near) draw(sheet); }
  }

  const hiddenMethod = (m) => state.method >= 0 && state.method !== m;

  function show(d) {
    state.document = d;
    const doc = data.documents[d];
    study(doc);
    for (const layer of doc.layers)
      if (!layer.reach) {
        let reached = 0;
        layer.reach = layer.e.map((end) => (reached = Math.max(reached, end)));
      }
    watcher.disconnect();
    single.disconnect();
    sheets = [];
    known = new Map();
    let size = SHEET;
    rowsOf(doc).forEach((row, r) => {
      if (size >= SHEET) { sheets.push({ rows: [], box: make("section", "sheet"), filled: false, size: 0 }); size = 0; }
      sheets[sheets.length - 1].rows.push([r, row]);
      const layer = doc.layers[0], [first, end] = row[0];
      size += first < end ? layer.reach[end - 1] - layer.own[first] + 200 * (end - first) : 0;
      sheets[sheets.length - 1].size = size;
    });
    sheets.virtual = doc.text.length > VIRTUAL;
    const names = make("div", "names");
    doc.layers.forEach((layer, m) => {
      const cell = make("div", "m" + m), method = data.methods[m];
      cell.append(make("b", "", method.name), make("span", "soft", counted(layer.s.length, "chunk")));
      if (layer.curve) {
        const t = layer.curve.t;
        cell.append(make("span", "soft", "; curve: " + method.what +
          (layer.ends ? ", " + short(layer.ends[0]) + " to " + short(layer.ends[1]) : "") + (t === null ? "" : "; dashed: threshold " + short(t))));
      }
      cell.hidden = hiddenMethod(m);
      names.append(cell);
    });
    const boxes = sheets.map((sheet) => {
      known.set(sheet.box, sheet);
      // The height is estimated with 7 px of width for each character and 22 px of height for each line.
      // `size` includes 200 characters for the head of each chunk, which is 40 px high.
      const across = Math.min(870, main.clientWidth / (state.method < 0 ? doc.layers.length : 1)) - 90;
      const tall = Math.max(60, Math.round(sheet.size * 7 / Math.max(150, across) * 22));
      sheet.box.style.containIntrinsicSize = "auto " + tall + "px";
      if (sheets.virtual) sheet.box.style.height = tall + "px";
      else fill(sheet);
      return sheet.box;
    });
    main.replaceChildren(names, ...boxes);
    sheets.forEach((sheet) => watcher.observe(sheet.box));
    if (byId("documents")) byId("documents").value = d;
    tell();
  }

  function sheetOf(m, k) {
    return sheets.find((sheet) => sheet.rows.some(([, row]) => row[m] && row[m][0] <= k && k < row[m][1]));
  }

  function markChosen(place) {
    for (const each of place.querySelectorAll(".chosen")) { each.classList.remove("chosen"); each.removeAttribute("aria-current"); }
    const found = place.querySelector('.chunk[data-m="' + state.layer + '"][data-k="' + state.chunk + '"]');
    if (!found) return null;
    found.classList.add("chosen");
    found.setAttribute("aria-current", "true");
    return found;
  }

  function choose(m, k, how) {
    const layer = data.documents[state.document].layers[m];
    if (!layer || !layer.s.length) return;
    k = Math.min(Math.max(k, 0), layer.s.length - 1);
    state.layer = m;
    state.chunk = k;
    if (hiddenMethod(m)) setMethod(m);
    const sheet = sheetOf(m, k);
    if (!sheet) return;
    fill(sheet);
    const found = markChosen(main);
    if (found && how) bring(found, how);
    try { history.replaceState(null, "", hash(state.document, m, k)); } catch { /* a frame may have no address */ }
    tell();
  }

  // Scrolls a chunk into view. This is repeated in the next frames, because sheets that come into view on the way get
  // their real height only then.
  function bring(box, how, times = 3) {
    // A chunk that is taller than the window is shown from its top.
    const tall = box.getBoundingClientRect().height > innerHeight - 100;
    box.scrollIntoView({ block: tall ? "start" : how });
    if (times > 0) requestAnimationFrame(() => {
      const rect = box.getBoundingClientRect();
      if (rect.top < 0 || rect.top + Math.min(rect.height, 80) > innerHeight) bring(box, how, times - 1);
    });
  }

  function tell() {
    const layer = data.documents[state.document].layers[state.layer];
    byId("at").textContent = (state.chunk >= 0 ? "c" + numberOf(state.document, state.layer, state.chunk) + " of " : "") + counted(layer.s.length, "chunk");
  }

  function setMethod(m) {
    state.method = m;
    root.classList.toggle("one", m >= 0);
    root.style.setProperty("--columns", m >= 0 ? 1 : data.methods.length);
    for (const each of document.querySelectorAll("[data-method]"))
      each.setAttribute("aria-pressed", String(+each.dataset.method === m));
    data.methods.forEach((_, i) => {
      for (const each of main.querySelectorAll(".m" + i)) each.hidden = hiddenMethod(i);
    });
    if (m >= 0 && state.layer !== m) { state.layer = m; state.chunk = -1; }
    redraw();
    tell();
  }

  function setQuery(q) {
    state.query = state.query === q ? -1 : q;
    document.querySelectorAll("[data-query]").forEach((each) => {
      each.setAttribute("aria-pressed", String(+each.dataset.query === state.query));
    });
    const list = byId("hits");
    list.replaceChildren();
    if (state.query >= 0) {
      data.methods.forEach((method, m) => {
        const hits = [];
        data.documents.forEach((doc, d) => {
          for (const hit of doc.layers[m].hits?.[state.query] || []) hits.push([d, ...hit]);
        });
        hits.sort((a, b) => a[5] - b[5]);
        if (data.methods.length > 1) list.append(make("li", "soft", method.name));
        for (const [d, k, score, a, b, rank] of hits) {
          const item = make("li"), link = make("a"), layer = data.documents[d].layers[m];
          link.href = hash(d, m, k);
          const from = a < b ? a : layer.s[k];
          link.append(make("b", "", rank), make("span", "", (data.documents.length > 1 ? "d" + d : "") + "c" + numberOf(d, m, k)),
            make("span", "text", data.documents[d].text.slice(from, from + 80)), make("span", "soft", short(score)));
          item.append(link);
          list.append(item);
        }
        if (!hits.length) list.append(make("li", "soft", "no hits"));
      });
    }
    const chosen = [state.layer, state.chunk];
    show(state.document);
    if (chosen[1] >= 0) choose(...chosen, null);
  }

  function follow() {
    const found = /^#(?:d(\d+))?(?:m(\d+))?c(\d+)$/.exec(location.hash);
    if (!found) return;
    const d = Math.min(+(found[1] ?? state.document), data.documents.length - 1);
    const m = Math.min(+(found[2] ?? 0), data.methods.length - 1);
    if (d !== state.document) { state.chunk = -1; show(d); }
    choose(m, placeOf(d, m, +found[3]), "center");
  }

  function go(d) {
    if (d < 0 || d >= data.documents.length) return;
    state.chunk = -1;
    show(d);
    scrollTo(0, 0);
  }

  // The bar above the text.
  byId("title").textContent = data.title;
  document.title = data.title;
  const bar = byId("bar");
  if (data.documents.length > 1) {
    const group = make("div", "group docs"), list = make("select");
    list.id = "documents";
    list.setAttribute("aria-label", "document");
    data.documents.forEach((doc, d) => {
      const item = make("option", "", "d" + d + " " + doc.name);
      item.value = d;
      list.append(item);
    });
    list.addEventListener("change", () => go(+list.value));
    const before = make("button", "", "\u25C2"), after = make("button", "", "\u25B8");
    before.title = "previous document ([)";
    after.title = "next document (])";
    before.addEventListener("click", () => go(state.document - 1));
    after.addEventListener("click", () => go(state.document + 1));
    group.append(before, list, after);
    bar.append(group);
  }
  if (data.methods.length > 1) {
    const group = make("div", "group");
    [["side by side", -1], ...data.methods.map((method, m) => [method.name, m])].forEach(([name, m]) => {
      const button = make("button", m < 0 ? "all" : "", name);
      button.dataset.method = m;
      button.addEventListener("click", () => setMethod(m));
      group.append(button);
    });
    bar.append(group);
    root.classList.add("several");
  }
  data.queries.forEach((query, q) => {
    const button = make("button", "", query);
    button.dataset.query = q;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => setQuery(q));
    byId("queries").append(button);
  });
  byId("searching").hidden = !data.queries.length;

  const side = document.querySelector(".side");
  const fit = () => {
    side.open = !narrow.matches;
    if (data.methods.length > 1) setMethod(narrow.matches ? Math.max(0, state.layer) : -1);
  };
  if (!data.documents.length) { main.append(make("p", "soft", "no documents")); return; }
  fit();
  narrow.addEventListener("change", fit);
  show(0);
  follow();
  addEventListener("hashchange", follow);
  main.addEventListener("click", (event) => {
    const box = event.target.closest(".chunk");
    if (box && !event.target.closest("a") && String(getSelection()) === "") choose(+box.dataset.m, +box.dataset.k, null);
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(select|input|textarea)$/i.test(event.target.tagName)) return;
    if (event.key === "j") choose(state.layer, state.chunk + 1, "nearest");
    else if (event.key === "k") choose(state.layer, state.chunk - 1, "nearest");
    else if (event.key === "[") go(state.document - 1);
    else if (event.key === "]") go(state.document + 1);
    else return;
    event.preventDefault();
  });
  // On paper everything is shown. Curves are drawn once the page has the layout of the paper.
  addEventListener("beforeprint", () => {
    side.open = true;
    for (const sheet of sheets) { fill(sheet); sheet.near = true; }
  });
  paper.addEventListener("change", redraw);
})();
