#include "abbreviations.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace pychunk {
namespace {

// Lists are lower case; a word is looked up as it is and with ASCII letters lowered. What is too common as an
// ordinary word ("no", "am", "fig") is in kNumber or absent.
constexpr std::string_view kOpenWords =
    // English
    "mr mrs ms mx messrs dr drs prof rev hon pres gov sen rep gen lt col maj capt cmdr cdr adm sgt cpl pvt "
    "supt insp st ste mt ft fr br sr. e.g i.e eg ie cf viz vs v approx esp incl excl resp opp dept univ assn "
    "bros mfg intl natl govt mgr asst assoc atty dist ave blvd hwy rte ph.d. ed eds trans repr fl b d r née "
    "née. "
    "c ca circa ante op loc ibid "
    // German
    "z.b z.t d.h u.a. u.u i.d.r o.ä v.a bzw usf vgl evtl ggf sog bspw insb inkl exkl zzgl bzgl hrsg geb gest "
    "verh "
    "str abs abt allg ehem eigtl einschl entspr inh jhdt jh mio mrd nr dipl mag frl hr fr dt engl frz "
    "griech ital span russ z.zt z.h a.d s.o s.u "
    // French, Spanish, Italian, Portuguese
    "mme mlle mm mgr env p.ex c.-à-d sra sr srta uds dña d.ª excmo ej p.ej núm pág págs sig sig.ra dott "
    "dott.ssa "
    "avv geom ecc. p.es exmo dra exma av "
    // Dutch, Danish, Norwegian, Swedish
    "dhr mevr mw drs ir bijv m.a.w d.w.z o.a t.a.v f.eks bl.a d.v.s dvs mht ifm iht vedr pga t.ex bl.a. s.k "
    "m.fl. "
    "resp fr.o.m t.o.m nr "
    // Polish, Czech, Slovak, Croatian
    "np m.in tj tzn tzw prof dr mgr inż hab ks św ul gen płk ppłk mjr kpt oprac wyd zob tys mln mld "
    "godz wg ww tzv např mj mudr judr phdr rndr doc čs st sv nám ul tř atd. cca č čl obr s.r.o "
    "npr tzv sv br gđa g gđica prof mr "
    // Russian, Ukrainian, Belarusian
    "т.е т.к т.н т.зв т.д. напр див пор ім акад проф доц канд гр ст вул просп пров бул пл обл р-н смт с м "
    "о-в гор "
    "ул пер пр пос им св зам зав тов п пп рис мал табл тис млн млрд трлн грн коп руб долл дол орієнт прибл "
    "близько. "
    "рос укр нім англ фр лат грец польськ ісп італ тел адм ген полк підполк майор. кап літ. ред упоряд пер "
    "вид изд "
    "ок нар род нар. о б див. кв буд корп оф т.п. т тт кн гл розд ч чч арк ";
constexpr std::string_view kNumberWords =
    // English
    "no nos p pp vol vols fig figs ch chap sec sect art arts eq eqs ex para par pt pts app nr op bk ver rev "
    "jan feb mar apr jun jul aug sep sept oct nov dec tel ext "
    // German, French, Italian, Spanish, Slavic
    "s bd bde kap ziff anm abb tab okt dez mai aufl n° núm tom str č ods sv ст стор с с. сс розд табл мал "
    "рис № "
    "січ лют бер квіт трав черв лип серп вер жовт лист груд ";
constexpr std::string_view kTitleWords =
    "inc ltd co corp plc llc bros jr sr esq u.s u.k u.n u.s.a u.s.s.r d.c n.y l.a e.u st ph.d m.d b.a m.a "
    "b.sc m.sc "
    "d.phil gmbh mbh s.a s.p.a n.v b.v u.a a.k.a v.i.p mass calif conn fla ill ind kan ky la md mich minn "
    "miss mo "
    "mont neb nev okla ore pa tenn tex va vt wash wis wyo ariz ark colo del ga ";
constexpr std::string_view kMayCloseWords =
    "etc al usw u.s.w ecc itd itp atd aj a.m p.m b.c a.d b.c.e c.e n.chr v.chr m.fl m.m o.s.v osv etc. др "
    "т.д т.п ін и.т.д "
    "и.т.п тощо рр р гг г н.э н.е до.н.е ст грн коп тис млн млрд кг км см мм га хв сек год ч kg km cm mm ft. "
    "lb lbs oz hr "
    "hrs min mins sec. est yr yrs ";
constexpr std::string_view kOpenerWords =
    "The This That These Those There Then They Their He She It Its His Her We Our You Your However Although "
    "Though "
    "While When Where After Before During Since Because If In On At As But And Or So For From With By To "
    "Also Another "
    "Some Many Most Each Every Both All Other Such What Who Why How Not One Two Now Here Despite Under Until "
    "Der Die Das Den Dem Ein Eine Er Sie Es Wir Ihr Im Am Zum Zur Bei Mit Nach Von Für Auf Aus Auch Aber "
    "Doch Dann "
    "Diese Dieser Dieses Dabei Damit Seit Nur Als Wenn Weil Da So Hier Dort "
    "Le La Les Un Une Il Elle Ils Elles Ce Cette El Los Las Una Este Esta Lo Gli Il Nel O Os Em "
    "Він Вона Воно Вони Це Цей Ця Ці Той Але Та Також Якщо Коли Проте Однак Тому У В На За До Від Після Для "
    "Як Що "
    "Он Она Оно Они Это Этот Но Также Если Когда Однако После По ";

using Words = std::unordered_set<std::string_view>;

Words words_of(std::string_view list) {
  Words found;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    if (end > at) found.insert(list.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

const std::unordered_map<std::string_view, Abbreviation>& table() {
  static const auto made = [] {
    std::unordered_map<std::string_view, Abbreviation> map;
    const auto add = [&](std::string_view list, Abbreviation kind) {
      for (const std::string_view word : words_of(list)) map.emplace(word, kind);
    };
    // The first list that holds a word wins.
    add(kTitleWords, Abbreviation::kTitle);
    add(kMayCloseWords, Abbreviation::kMayClose);
    add(kNumberWords, Abbreviation::kNumber);
    add(kOpenWords, Abbreviation::kOpen);
    return map;
  }();
  return made;
}

}  // namespace

Abbreviation abbreviation(std::string_view word) {
  constexpr size_t kLongest = 24;
  if (word.empty() || word.size() > kLongest) return Abbreviation::kNone;
  char lowered[kLongest];
  std::transform(word.begin(), word.end(), lowered,
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto found = table().find({lowered, word.size()});
  return found == table().end() ? Abbreviation::kNone : found->second;
}

bool is_opener(std::string_view word) {
  static const Words openers = words_of(kOpenerWords);
  return openers.contains(word);
}

bool writes_ordinals_with_stop(std::string_view text) {
  static const Words english = words_of("the of to and in is that for was with");
  static const Words others = words_of("und der das die och og som til ja je się oraz nie że že és az hogy nije koji");
  // One pass over the beginning: enough to tell, and cheap beside the splitting itself.
  text = text.substr(0, 4096);
  int balance = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end - begin >= 2 && end - begin <= 5) {
      const std::string_view word = text.substr(begin, end - begin);
      balance += static_cast<int>(others.contains(word)) - static_cast<int>(english.contains(word));
    }
    begin = end + 1;
  }
  return balance > 0;
}

}  // namespace pychunk
