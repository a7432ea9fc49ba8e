#include "text/abbreviations.h"

#include <algorithm>
#include <bitset>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "text/characters.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// The lists are in lower case. The look-up first lowers a word's ASCII letters. Abbreviations that are also common
// words at the end of sentences ("am", "ill", "old") are absent, or in a list that checks what follows.
constexpr std::string_view kOpenWords =
    // English
    "mr mrs ms mx messrs dr drs prof rev hon pres gov sen rep gen lt col maj capt cmdr cdr adm sgt cpl pvt supt "
    "insp st ste mt ft fr br sr. e.g i.e eg ie cf viz vs v approx esp incl excl resp opp dept univ assn bros mfg "
    "intl natl govt mgr asst assoc atty dist ave blvd hwy rte ph.d. ed eds trans repr fl b d r née née. c ca circa "
    "ante op loc ibid "
    // German
    "z.b z.t d.h u.a. u.u i.d.r o.ä v.a bzw usf vgl evtl ggf sog bspw insb inkl exkl zzgl bzgl hrsg geb gest verh "
    "abs abt allg ehem eigtl einschl entspr inh jhdt jh nr dipl hl mag frl hr fr dt engl frz griech ital "
    "span russ z.zt z.h a.d s.o s.u lat jap ukr poln tschech türk hebr arab "
    // French, Spanish, Italian, Portuguese, Romanian
    "mme mlle mm mgr env p.ex c.-à-d tél sra sr srta uds dña d.ª excmo ej p.ej núm pág págs depto sig sig.ra dott "
    "dott.ssa d.lgs d.p.r artt avv geom ecc. p.es cfr exmo dra exma profa av dl dna "
    // Dutch
    "dhr mevr mw drs ir ing bijv bv m.a.w d.w.z o.a t.a.v m.n i.p.v t.o.v "
    // Danish, Norwegian, Swedish, Icelandic
    "f.eks bl.a d.v.s dvs mht ifm iht vedr pga t.ex bl.a. s.k m.fl. resp fr.o.m t.o.m nr f.d kgl tidl vilh chr iflg "
    "jf evt ekskl omkr st.meld ot.prp innst hv þm hæstv t.d þ.e þ.m.t m.a u.þ.b skv sbr "
    // Finnish, Estonian, Latvian, Hungarian, Turkish
    "esim ks ns nk vrt synt puh nt vt s.t s.o piem t.i tūkst milj mljrd pl kb ún ifj özv vö bkz örn doç yrd sn cad "
    "sok mah t.c m.ö "
    // Polish, Czech, Slovak, Croatian, Slovene
    "np m.in tj tzn tzw prof dr mgr inż hab ks św ul gen płk ppłk mjr kpt oprac wyd zob tys mln mld godz wg ww bp "
    "abp kard woj ur tzv např mj mudr judr phdr rndr bc doc čs st sv nám ul tř atd. cca popř příp srov odst s.r.o "
    "npr sv br gđa g gđica mr napr okr franc t.j nar zom oz t.i "
    // Russian, Ukrainian, Belarusian, Bulgarian
    "т.е т.к т.зв т.д. напр див пор ім акад проф доц канд гр ст вул просп пров бул пл обл р-н смт с м о-в гор ул "
    "пер пр пос им св зам зав тов п пп рис мал табл тис млн млрд трлн коп руб долл дол орієнт прибл близько. рос "
    "укр нім англ фр лат грец польськ ісп італ тел адм ген полк підполк майор. кап літ. ред упоряд вид изд нар род "
    "ум народ. о б див. кв буд корп оф т.п. т тт кн гл розд арк инж г-н г-жа "
    // Greek
    "π.χ κ κα δηλ βλ "
    // Hindi, Marathi, Nepali; Bengali; Punjabi; Gujarati; Oriya
    "डॉ डा प्रो प्रा पं श्री श्रीमती सौ स्व मो मा कु चि इं सं क्र पृ रु उदा ডা ড ডঃ মো মোসা প্রফে অধ্যা শ্রী সৈ পৃ নং খ্রি ਡਾ ਪ੍ਰੋ ਸ਼੍ਰੀ "
    "ડૉ ડો પ્રો પં શ્રી સ્વ રૂ ଡ ଡା ପ୍ରୋ ଶ୍ରୀ "
    // Tamil; Telugu; Kannada; Malayalam; Sinhala
    "திரு திருமதி செல்வி டாக் பேரா எண் பக் డా ప్రొ శ్రీ శ్రీమతి ಡಾ ಪ್ರೊ ಶ್ರೀ ಶ್ರೀಮತಿ ഡോ പ്രൊഫ ശ്രീ അഡ്വ നം ආචාර්ය මහාචාර්ය රු "
    // Thai
    "ดร ศ รศ ผศ นพ พญ ทพ น.ส ม.ร.ว ม.ล ";
constexpr std::string_view kDegreeWords =
    "med phil jur iur rer nat theol habil vet dent oec pol publ agr mult paed sc h.c hc forest ";
constexpr std::string_view kStreetWords = "str ";
constexpr std::string_view kYearWords = "г гг р рр r ";
constexpr std::string_view kVietnameseWords = "GS TS PGS ThS Ths BS KS LS CN TP Tp tp TX Tx TT ĐH NSND NSƯT ";
// The names of Latin letters in other scripts, with which initials are written: एस. रामन.
constexpr std::string_view kLetterWords =
    "ए बी सी डी एफ एच जे के एल एम एन ओ क्यू आर एस टी यू वी व्ही डब्ल्यू एक्स वाई वाय जेड ज़ेड झेड "
    "এ বি সি ডি এফ জি এইচ আই জে কে এল এম এন ও পি কিউ আর এস টি ইউ ভি ডব্লিউ এক্স ওয়াই জেড "
    "ਏ ਬੀ ਡੀ ਐਫ ਜੀ ਐਚ ਜੇ ਕੇ ਐਲ ਐਮ ਐਨ ਆਰ ਐਸ ਟੀ ਯੂ ਵੀ બી સી ડી એફ જી એચ આઈ જે કે એલ એમ એન ઓ ક્યુ આર એસ ટી યુ વી ડબલ્યુ "
    "ஏ பி சி டி எஃப் ஜி எச் ஹெச் ஐ ஜே கே எல் எம் என் ஓ கியூ ஆர் எஸ் யு யூ வி டபிள்யூ "
    "ఎ ఏ బి సి డి ఎఫ్ జి హెచ్ ఐ జె జే కె కే ఎల్ ఎం ఎమ్ ఎన్ ఓ పి క్యూ ఆర్ ఎస్ టి యు వి డబ్ల్యూ వై "
    "ಎ ಬಿ ಸಿ ಡಿ ಎಫ್ ಜಿ ಎಚ್ ಹೆಚ್ ಐ ಜೆ ಕೆ ಎಲ್ ಎಂ ಎಮ್ ಎನ್ ಓ ಪಿ ಕ್ಯೂ ಆರ್ ಎಸ್ ಟಿ ಯು ವಿ ವೈ "
    "എ ബി സി ഡി എഫ് ജി എച്ച് ഐ ജെ കെ എൽ എം എൻ ഒ പി ക്യു ആർ എസ് ടി യു വി ഡബ്ല്യു "
    "ඒ බී සී ඩී එෆ් ජී එච් අයි ජේ කේ එල් එම් එන් ඕ පී ආර් එස් ටී යූ වී ඩබ්ලිව් "
    "اے بی سی ڈی ایف ایچ جے کے ایل ایم این او کیو آر ایس یو وی ڈبلیو ایکس وائی زیڈ ";
// Letter names that are also words, so that one alone is no initial: पी (drank), आई (came).
constexpr std::string_view kDoubtfulLetterWords = "ई जी आई आय पी ਸੀ ਪੀ ਆਈ ઈ એ પી ஈ இ ای جی آئی پی ٹی ";
constexpr std::string_view kPronounWords =
    "My Mine I Myself Nobody Somebody Everybody Everyone Someone Several Few Neither Either No Any Whose Which "
    "Mi Mis Tu Tus Su Sus Nuestro Nuestra Yo Ella Ellos Nosotros Esto Ese Esa Mon Ma Mes Ton Ta Tes Son Sa Ses Notre "
    "Nos "
    "Votre Leur Leurs Je Nous Vous On Cet Ces Io Noi Lui Lei Loro Mio Mia Suo Sua Questo Questa Eu Meu Minha Seu "
    "Ele Ela Ik Wij Jij Hij Zij Mijn Onze Dit Dat Jag Vi Han Hon Min Mitt Vår Jeg Hun Vores Euer Eure Eine "
    "Я Ты Мы Вы Мой Моя Мои Наш Наша Его Её Их Мій Моя Наша Його Її Їх Ми Ви ";
// The words at the end of a clause that names the speaker, and the words with the same endings that do not.
constexpr std::string_view kSaidWords =
    "说 說 道 问 問 答 喊 叫 嚷 吼 嘆 叹 骂 罵 曰 讲 講 表示 指出 回应 回應 解释 解釋 补充 補充 强调 強調 言った 言う "
    "答えた 尋ねた 聞いた 叫んだ "
    "話した 述べた つぶやいた ";
constexpr std::string_view kUnsaidWords =
    "知道 街道 味道 难道 難道 小说 小說 学问 學問 疑问 疑問 听说 聽說 通道 频道 頻道 管道 地道 报道 報道 轨道 道道 ";
constexpr std::string_view kQuotingWords = "라고 라며 라는 이라고 이라며 이라는 하고 하며 하는 ";
constexpr std::string_view kNumberWords =
    // English
    "no nos p pp vol vols fig figs ch chap sec sect art arts eq eqs ex para par pt pts app nr op bk ver rev jan feb "
    "mar apr jun jul aug sep sept oct nov dec tel ext pop reg regs subsec subsecs pars cl cls "
    // German, French, Italian, Spanish, Dutch
    "s bd bde kap mrd ziff anm abb tab okt dez mai aufl rdnr rn buchst n° núm tom pag blz "
    // Danish, Icelandic, Estonian, Latvian, Finnish
    "kl stk bls lk plkst lpp klo "
    // Slavic
    "mio mia mill č čl ods pkt ust rys obr poz ok št mil св стр стор с. сс розд табл мал рис № ок ч чч ал чл січ "
    "лют бер квіт "
    "трав черв лип серп вер жовт лист груд "
    // Greek
    "αρ σελ ";
constexpr std::string_view kTitleWords =
    "inc ltd co corp plc llc bros jr sr esq u.s u.k u.n u.s.a u.s.s.r d.c n.y l.a e.u st ph.d m.d b.a m.a b.sc m.sc "
    "d.phil gmbh mbh s.a s.p.a n.v b.v u.a a.k.a v.i.p mass calif conn fla ill ind kan ky la md mich minn miss mo "
    "mont neb nev okla ore pa tenn tex va vt wash wis wyo ariz ark colo del ga me fed civ crim evid supp bankr cal cir "
    "ct dkt proc prac sess stat const amend educ welf veh dir ";
constexpr std::string_view kMayCloseWords =
    "etc al suiv sqq usw u.s.w ecc a.m p.m b.c a.d b.c.e c.e n.chr v.chr j.-c m.fl m.m o.s.v osv mv enz e.d etc. jne "
    "jms jm "
    "ym yms utt u.c stb vb ee.uu ș.a o.fl o.s.frv kr pct proc "
    "itd itp ipd atd atď aj stol stor god kn zł r р рр г гг др т.д т.п т.н п.д ін и.т.д и.т.п тощо н.э н.е до.н.е "
    "грн коп тис млн млрд кг км см мм га хв сек год лв κ.λπ κ.ά κ.τ.λ μ.χ "
    "kg km cm mm ft. lb lbs oz hr hrs min mins sec. est yr yrs ";
constexpr std::string_view kOpenerWords =
    // English
    "The This That These Those There Then They Their He She It Its His Her We Our You Your However Although Though "
    "While When Where After Before During Since Because If In On At As But And Or So For From With By To Also "
    "Another Some Many Most Each Every Both All Other Such What Who Why How Not One Two Now Here Despite Under Until "
    // German
    "Der Die Das Den Dem Ein Eine Er Sie Es Wir Ihr Ich Man Im Am Zum Zur Bei Mit Nach Von Vom Für Auf Aus Auch Aber "
    "Doch Dann Danach Diese Dieser Dieses Dabei Damit Dazu Daher Deshalb Dadurch Darum Seit Nur Als Wenn Weil Da So "
    "Hier Dort Nun Jetzt Und Oder Denn Dass Ob Wer Was Wie Wo Während Trotz Nachdem Bevor Obwohl Allerdings Jedoch "
    "Außerdem Zudem Schließlich Später Viele Einige Alle Jeder Kein Keine Nicht Noch Schon Bereits Über Unter Vor "
    "Zwischen Gegen Ohne Um Durch An Zu Ab Bis Sein Seine Ihre Mein Meine Unser Unsere Insgesamt Ebenso Heute Zuvor "
    // French, Spanish, Italian, Portuguese
    "Le La Les Un Une Il Elle Ils Elles Ce Cette El Los Las Una Este Esta Lo Gli Il Nel O Os Em "
    // Ukrainian, Russian
    "Він Вона Воно Вони Це Цей Ця Ці Той Але Та Також Якщо Коли Проте Однак Тому У В На За До Від Після Для Як Що "
    "Он Она Оно Они Это Этот Но Также Если Когда Однако После По ";

constexpr std::string_view kShortWords =
    "it so me us up on in be do go he she you him her too now out one two all day way yet ago bad dog cat car job lot "
    "man old new off own say see try use was why yes is are ";
constexpr std::string_view kGermanMonths =
    "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert "
    "Jahrhunderts ";
constexpr std::string_view kGermanWords =
    "und der das die den dem des ein eine einer ist im am vom zum zur mit von auf für sich nicht wurde war auch als "
    "nach bei aus hat ";
constexpr std::string_view kOtherWords =
    "the of to and that for with de het een van en la le les et og det er at til que el un ";

// A set of words. Their length, first and last byte reject most other words without a hash.
class WordSet {
 public:
  void insert(std::string_view word) {
    words_.insert(word);
    outlines_.set(outline(word));
  }
  bool contains(std::string_view word) const {
    return !word.empty() && outlines_[outline(word)] && words_.contains(word);
  }
  auto begin() const { return words_.begin(); }
  auto end() const { return words_.end(); }

 private:
  static size_t outline(std::string_view word) {
    const auto first = static_cast<unsigned char>(word.front()), last = static_cast<unsigned char>(word.back());
    return (word.size() * 341 + first * 37 + last) % 4096;
  }

  std::unordered_set<std::string_view> words_;
  std::bitset<4096> outlines_;
};

WordSet words_of(std::string_view list) {
  WordSet found;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    if (end > at) found.insert(list.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

constexpr size_t kLongest = 24;

// Returns a number made of a word's length, first and last byte. It rejects most words that are no abbreviations
// without a hash.
size_t outline(std::string_view word) {
  const auto first = static_cast<unsigned char>(word.front()), last = static_cast<unsigned char>(word.back());
  return (word.size() * 1024 + (first & 31) * 32 + (last & 31)) % (kLongest * 1024 + 1024);
}

// Lowers the first letter of a word if it is a two-byte letter of Latin, Greek or Cyrillic, with which abbreviations
// begin.
void lower_first(char* word) {
  const auto [c, length] = decode_utf8(std::string_view(word, 4), 0);
  if (length != 2 || case_of(c) != Case::kUpper || c == 0x130 || c == 0x178) return;
  char32_t small = c;
  if (c <= 0xDE || (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F))
    small = c + 0x20;
  else if (c >= 0x100 && c <= 0x17F)
    small = c + 1;
  else if (c >= 0x400 && c <= 0x40F)
    small = c + 0x50;
  word[0] = static_cast<char>(0xC0 | small >> 6);
  word[1] = static_cast<char>(0x80 | (small & 0x3F));
}

struct Lists {
  std::unordered_map<std::string_view, Abbreviation> kinds;
  std::bitset<(kLongest + 1) * 1024> outlines;
  WordSet openers = words_of(kOpenerWords), pronouns = words_of(kPronounWords), years = words_of(kYearWords),
          vietnamese = words_of(kVietnameseWords), letters = words_of(kLetterWords),
          doubtful = words_of(kDoubtfulLetterWords), said = words_of(kSaidWords), unsaid = words_of(kUnsaidWords),
          quoting = words_of(kQuotingWords), shorts = words_of(kShortWords), months = words_of(kGermanMonths),
          german = words_of(kGermanWords), others = words_of(kOtherWords);

  Lists() {
    const auto add = [&](std::string_view list, Abbreviation kind) {
      for (const std::string_view word : words_of(list)) {
        kinds.emplace(word, kind);
        outlines.set(outline(word));
      }
    };
    // A word belongs to the first list that contains it.
    add(kTitleWords, Abbreviation::kTitle);
    add(kMayCloseWords, Abbreviation::kMayClose);
    add(kNumberWords, Abbreviation::kNumber);
    add(kOpenWords, Abbreviation::kOpen);
    add(kDegreeWords, Abbreviation::kDegree);
    add(kStreetWords, Abbreviation::kStreet);
  }
};

const Lists& lists() {
  // The lists are never destroyed: a thread may still read them while the process ends.
  static const Lists& made = *new Lists;
  return made;
}

}  // namespace

void prepare_abbreviations() { lists(); }

Abbreviation abbreviation(std::string_view word) {
  if (word.empty() || word.size() > kLongest) return Abbreviation::kNone;
  const bool other = static_cast<unsigned char>(word[0]) >= 0x80;  // its first byte may change
  if (!other && !lists().outlines[outline(word)]) return Abbreviation::kNone;
  char lowered[kLongest];
  std::transform(word.begin(), word.end(), lowered,
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (other) {
    lower_first(lowered);
    if (!lists().outlines[outline({lowered, word.size()})]) return Abbreviation::kNone;
  }
  const auto found = lists().kinds.find({lowered, word.size()});
  return found == lists().kinds.end() ? Abbreviation::kNone : found->second;
}

bool is_opener(std::string_view word) { return lists().openers.contains(word); }

bool is_pronoun(std::string_view word) { return lists().pronouns.contains(word); }

bool is_year_word(std::string_view word) { return lists().years.contains(word); }

bool is_vietnamese_title(std::string_view word) { return lists().vietnamese.contains(word); }

bool looks_vietnamese(std::string_view text) {
  text = text.substr(0, 4096);
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const auto a = static_cast<unsigned char>(text[i]), b = static_cast<unsigned char>(text[i + 1]);
    if (a == 0xC6 && (b == 0xA0 || b == 0xA1 || b == 0xAF || b == 0xB0)) return true;  // Ơ ơ Ư ư
    if (a == 0xE1 &&
        ((b == 0xBA && i + 2 < text.size() && static_cast<unsigned char>(text[i + 2]) >= 0xA0) || b == 0xBB))
      return true;  // U+1EA0 to U+1EFF
  }
  return false;
}

bool is_letter_name(std::string_view word) { return lists().letters.contains(word); }

bool is_doubtful_letter_name(std::string_view word) { return lists().doubtful.contains(word); }

bool tells_speaker(std::string_view clause) {
  const auto ends = [&](std::string_view word) { return clause.ends_with(word); };
  return std::any_of(lists().said.begin(), lists().said.end(), ends) &&
         std::none_of(lists().unsaid.begin(), lists().unsaid.end(), ends);
}

bool is_quoting_word(std::string_view word) { return lists().quoting.contains(word); }

bool is_short_word(std::string_view word) { return lists().shorts.contains(word); }

bool is_german_month(std::string_view word) { return lists().months.contains(word); }

bool capitalises_after_ordinals(std::string_view text) {
  const WordSet &german = lists().german, &others = lists().others;
  // One pass over the beginning of the text is enough to decide, and cheap compared with the splitting itself.
  text = text.substr(0, 4096);
  int balance = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end - begin >= 2 && end - begin <= 6) {
      const std::string_view word = text.substr(begin, end - begin);
      balance += static_cast<int>(german.contains(word)) - static_cast<int>(others.contains(word));
    }
    begin = end + 1;
  }
  return balance > 0;
}

std::vector<std::pair<std::string_view, std::string_view>> word_lists() {
  return {{"title", kTitleWords},
          {"may close", kMayCloseWords},
          {"number", kNumberWords},
          {"open", kOpenWords},
          {"degree", kDegreeWords},
          {"street", kStreetWords},
          {"opener", kOpenerWords},
          {"pronoun", kPronounWords},
          {"short", kShortWords},
          {"year", kYearWords},
          {"vietnamese title", kVietnameseWords},
          {"letter", kLetterWords},
          {"doubtful letter", kDoubtfulLetterWords},
          {"said", kSaidWords},
          {"unsaid", kUnsaidWords},
          {"quoting", kQuotingWords},
          {"month", kGermanMonths},
          {"german", kGermanWords},
          {"other", kOtherWords}};
}

}  // namespace pychunk
