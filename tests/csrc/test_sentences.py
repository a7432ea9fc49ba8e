"""Sentences by kind, and hard-wrapped text: "¦" marks where a sentence ends inside the text."""

import textwrap
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk

KINDS = {
    "initials": [
        "P. Q. Hale and R. S. Dunn met T. Voss.¦ They agreed.",
        "The prize went to L. M. Ortega, to N. R. Pine and to Q. Z. Fay.¦ It was late.",
        "Le livre de G. R. Martin et de C. S. Loup est paru.¦ Il se vend bien.",
        "В 1854 г. Н. И. Лобачевский закончил труд.¦ Через год К. Ф. Гаусс умер.",
        "У 1932 р. О. П. Довженко знімав фільм.¦ Його бачив М. Т. Рильський.",
        "W 1920 r. J. K. Nowak wrócił do kraju.¦ Potem milczał.",
        "През 1870 г. В. И. Левски беше в Ловеч.¦ Там той остана.",
        "The book by T. S. Marsh and E. B. Wren sold well.¦ Its sequel by H. G. Stone did not.",
        "В 1961 г. Ю. А. Гагарин полетел в космос.¦ В 1965 г. Леонов вышел в открытый космос.",
        "Від 1991 р. Л. М. Кравчук був президентом.¦ Потім прийшов Л. Д. Кучма.",
        "W 1934 r. M. Skłodowska zmarła.¦ W 1945 r. wojna się skończyła.",
    ],
    "abbreviations before a number or a bracket": [
        "Nothing in subsec. (b) or pars. 3 and 4 changes this.¦ Reg. (UK) 12 still applies.",
        "Siehe Rdnr. 14 und Ziff. (3) des Vertrags.¦ Der Rest gilt weiter.",
        "Voir fig. (a) et chap. 4.¦ La suite est claire.",
    ],
    "scripts without case": [
        "डॉ. मीरा और प्रो. वर्मा कल मिले।¦ श्री आर. के. गुप्ता नहीं आए।",
        "पं. नेहरू और एम. एस. सुब्बुलक्ष्मी वहाँ थे।¦ सभा शुरू हुई।",
        "यह अच्छा है.¦ वह घर गया है.",
        "ডা. সেন ও মো. করিম এলেন।¦ এ. কে. ফজলুল হক কথা বললেন।",
        "प्रा. देशमुख आणि डॉ. जोशी आले.¦ पु. ल. देशपांडे हसले.",
        "டாக்டர் எஸ். ராமன் வந்தார்.¦ திரு. குமார் பேசினார்.¦ ம. கோ. இராமச்சந்திரன் நடித்தார்.",
        "డా. రావు మరియు కె. వి. రెడ్డి వచ్చారు.¦ సభ ముగిసింది.",
        "ડૉ. પટેલ અને પ્રો. મહેતા મળ્યા.¦ કે. એલ. સાયગલ ગાતા હતા.",
        "ഡോ. നായർ വന്നു.¦ എം. ടി. വാസുദേവൻ എഴുതി.",
        "ಡಾ. ರಾವ್ ಬಂದರು.¦ ಕೆ. ಎಸ್. ನಿಸಾರ್ ಬರೆದರು.",
        "ਡਾ. ਸਿੰਘ ਆਏ।¦ ਉਹ ਬੈਠੇ।",
        "وصل د. أحمد مع أ. د. سالم.¦ ثم تكلم م. خالد قليلا.",
        "کتاب م. ر. احمدی چاپ شد.¦ همه آن را خواندند.",
        "ن۔ م۔ راشد شاعر تھے۔¦ وہ لاہور میں رہے۔",
        "הספר של א. ב. כרמי יצא לאור.¦ קראתי אותו.",
        "डॉ. ए. पी. जे. अब्दुल कलाम आए थे।¦ प्रो. सिंह ने स्वागत किया।",
        "প্রফে. আলী ও শ্রী. দাস এলেন।¦ তাঁরা বসলেন।",
        "திரு. மு. கருணாநிதி பேசினார்.¦ கூட்டம் முடிந்தது.",
        "حضر د. علي ود. منى المؤتمر.¦ انتهى المؤتمر مساء.",
        "قال أ. د. محمود إن العمل جيد.¦ شكره الجميع.",
    ],
    "titles and places": [
        "Las FF. AA. de EE. UU. llegaron ayer.¦ El resto de los JJ. OO. se celebró.",
        "Vivió en EE. UU.¦ La casa era grande.",
        "Prof. Dr. phil. Karl Huber und Dr. rer. nat. Eva Lang kamen.¦ Dr. iur. Max Roth nicht.",
        "Jag vet vem han gick med.¦ Anna stannade hemma.",
        "Voir les pages 7 et suiv. de la thèse.¦ Le tome I, p. 3 et suiv.¦ La suite manque.",
        "Stă pe str. Florilor, la bl. 4.¦ Magazinul de pe str. Mihai Viteazu e mare.",
        "GS. TS. Trần Văn Khê sống ở TP. Cần Thơ.¦ PGS. TS. Lê Mai và ThS. Hoàng đến sau.",
        "BS. Lan làm ở TX. Sơn Tây.¦ Ông Nam ở Q. 3, Tp. Huế.",
        "Univ.-Prof. Dr. med. vet. Hans Wolf leitet das Haus.¦ Dipl.-Ing. Rita Kern hilft ihm.",
        "Locuiește pe str. Mare nr. 8 din Cluj.¦ Vine luni.",
        "TS. Phạm Hùng dạy ở ĐH. Huế.¦ Ông sinh ở Tp. Vinh.",
        "Las relaciones entre EE. UU. y Cuba mejoraron.¦ Los RR. HH. son clave.",
    ],
    "law": [
        "Under Fed. R. Evid. 403 the letter was left out.¦"
        " See Doe v. Poe, 45 F. Supp. 3d 12 (S.D. Tex. 2014).¦ We affirm.",
        "It cites Fed. R. Crim. P. 11 and 28 U.S.C. § 1331.¦"
        " In re Hill, 9 B.R. 77 (Bankr. E.D. Pa. 1981), is close.¦ The rest is moot.",
        "Compare Cal. Civ. Code § 1714 with Mass. Gen. Laws ch. 93A.¦ Both bar it.",
        "The text of Reg. (EC) No. 44/2001 is clear.¦ Dir. (EU) 2019/770 is not.",
        "See 110 S. Ct. 2841 and 85 Fed. Reg. 1200.¦ Nothing else matters.",
        "See Roe v. Doe, 12 F. App'x 3 (5th Cir. 2001).¦ Accord 9 Fed. Cl. 4.",
        "Under Fed. R. App. P. 4 and Tex. Civ. Prac. Code the time runs.¦ It has run.",
        "In re Lamb, 20 B.R. 5 (Bankr. S.D.N.Y. 1982), was reversed.¦"
        " So was Ex parte Coe, 3 Cal. 4th 9 (Cal. Ct. App. 1990).",
        "Subpars. (b) and (c) of Reg. (EEC) No. 1408/71 apply.¦ See also arts. 3-5.",
    ],
    "stops of other scripts": [
        "Τι ώρα είναι;¦ Δεν ξέρω.¦ «Πότε έφυγες;» ρώτησε η Άννα.¦ Χθες.",
        "Ποιος ήρθε;¦ Κανείς.",
        "བོད་སྐད་ཤེས་སམ། ¦ཅུང་ཟད་ཤེས། ¦བཀྲ་ཤིས་བདེ་ལེགས།",
        "ཁོང་སླེབས་སོང་༎ ¦ང་དགའ་པོ་བྱུང་༎",
        "Բարև ձեզ։¦Ո՞վ եկավ։¦Ոչ ոք։",
        "Πόσο κάνει αυτό;¦ Δέκα ευρώ.¦ Πού μένεις;¦ Στην Πάτρα.",
        "ཁྱེད་རང་གི་མིང་ལ་ག་རེ་ཟེར། ¦ངའི་མིང་ལ་ཚེ་རིང་ཟེར།",
        "Անձրև է գալիս։¦Մենք տանն ենք։ ¦Վաղը կգնանք։",
    ],
    "who said it": [
        "“你去哪儿？”妈妈问。¦“去学校。”小明回答。¦天很蓝。",
        "“走吧！”老师笑着说，大家都站起来。¦“好。”¦门开了。",
        "「我不去。」她說。¦「為什麼？」他問道。",
        "他问：“你好吗？”¦我很好。",
        "「やめて！」と叫んだ。¦「静かに。」¦誰も動かない。",
        "“快跑！”有人大声喊道。¦大家都跑了。¦“等等我。”她低声说道：“别走。”",
        "“好的。”¦我知道。¦“再见！”孩子们叫着，跑出了门。",
    ],
    "dialogue": [
        "— Gdzie byłaś? — spytała Ewa.¦ — W domu.",
        "— Dobrze — mruknął Jan.¦ — Chodźmy już.",
        "— Ты идёшь? — спросил Пётр.¦ — Нет, — сказала она.¦ — Я устала.",
        "— Tu pars ? demanda Luc.¦ — Oui.",
        "—¿Quién es? —preguntó el niño.¦ —Nadie.",
        "— Kam jdeš? — zeptala se Eva.¦ — Domů.",
        "— Ти прийдеш? — запитав Петро.¦ — Прийду, — відповіла вона.¦ — Добре.",
        "— Vens? — perguntou ele.¦ — Não.¦ — Porquê?",
    ],
    "acronyms": [
        "She moved to the U.S.A.¦ Her son stayed.¦ He works for the U.N.¦ Our friends know him.",
        "We left the U.K.¦ My sister cried.¦ They met in D.C.¦ I was there.",
        "The U.S. Army and the U.N. Security Council met.¦ Nobody spoke.",
        "They live in the U.S.¦ My aunt moved there.¦ She works for N.A.T.O.¦ Nobody minds.",
    ],
    "keys": [
        "Pulse ! para salir del programa.¦ Escriba ? en cualquier momento.",
        "Premere ? per avere aiuto.¦ Digitare ! ed attendere.",
        "Appuyez sur . pour continuer et sur ? pour voir la liste.¦ Le menu apparaît.",
        "Painamalla ? saat ohjeen näkyviin.¦ Paina q.",
        "Prima ? para ver a ajuda.¦ Depois prima ! para sair.",
        "(pulse ? para la ayuda y ! para salir).¦ Luego pulse q.",
        "Naciśnij ? aby zobaczyć pomoc.¦ Potem naciśnij q.",
    ],
}
PROSE = (
    "Die Fähre legt im Sommer jeden Morgen vom Alten Kai in Lindholm ab. Auf dem Deck sitzen Schüler, Händler "
    "und Bauern aus Jossum, die ihre Ware zum Markt bringen. Der Kapitän heißt Henning Brandt und stammt aus "
    "Altenhaven. Seine Frau Greta verkauft Kaffee, Kuchen und Karten der Inseln. Bei Sturm bleibt das Schiff im "
    "Hafen, und die Gäste warten im Gasthof Zum Anker auf besseres Wetter. Der Wirt erzählt dann Geschichten "
    "von Walen, Schmugglern und Riesen.",
    "The guests were Maria Olsen, Peter Brandt, Anna Lindqvist, John Carter and Lucia Moretti from the Harbour "
    "Club of Lindholm. They met Hans Weber, Karin Holm and Otto Lund at the Old Pier. After dinner Captain "
    "Brandt spoke about the North Sea, the Skagen Light and the Long Winter of Jossum. Nobody left before "
    "midnight.",
    "Раз в год весь город собирается у старой пристани. Дети несут фонари, а рыбаки поют песни о море. Потом "
    "все идут домой и пьют чай с мёдом. Утром улицы пусты, и только чайки ходят по площади. Ветер гонит листья, "
    "бумагу и обрывки сетей вдоль набережной, пока сторож не закроет ворота. Так было и при наших дедах, и при "
    "их отцах.",
)
KEPT = {
    "address": "Anna Berg\nHafenstraße 12\n24103 Kiel\nGermany",
    "list": "two loaves of bread\na bag of flour\nsix large eggs\nolive oil and salt\nsome soft cheese",
    "names": "Maria Olsen\nPeter Brandt\nAnna Lindqvist\nJohn Carter\nLucia Moretti\nHans Weber",
    "recipe": "Heat the oil in a pan.\nAdd the onion and stir.\nPour in the fish stock.\nSimmer for ten minutes.\n"
    "Serve with fresh bread.",
    "verse": "Shall morning find the harbour still asleep,\nAnd all the nets hung idle on the wall,\n"
    "While slowly from the grey and folded deep\nThe first gulls rise, and to each other call?",
    "verse without capitals": "the sea is wide\nand i am small\nthe boats have died\nupon the wall\n\n"
    "the moon is new\nthe tide is low\ni think of you\nand do not know",
    "log": "2024-03-04 09:12:01 INFO started on port 8080\n2024-03-04 09:12:05 WARN evicted 120 entries\n"
    "2024-03-04 09:13:11 ERROR cannot read the file\n2024-03-04 09:13:12 INFO retry 1 of 5 now",
    "log of a box": "Mar 04 09:12:01 box app[12]: started on port 8080 today\n"
    "Mar 04 09:12:05 box app[12]: evicted 120 old entries\nMar 04 09:13:11 box app[12]: cannot read the tide file\n"
    "Mar 04 09:13:12 box app[12]: retry 1 of 5 will follow",
    "code": "int main() {\n  int x = read_number();\n  int y = read_number();\n  print_sum(x, y);\n  return 0;\n}",
    "chat": "ana: did it pass?\nbo: no, it failed on arm\nana: again? look at the log\n"
    "bo: i will after lunch\nana: ok thanks",
    "contents": "Introduction .................................. 1\nThe harbour ................................... 4\n"
    "The old pier .................................. 9\nBoats and nets ............................... 14",
    "subtitles": "- Who built this boat?\n- Nobody knows.\n\n- When was it found?\n- In 1931.",
    "settings": "host = localhost\nport = 8080\nuser = admin\npassword = none\ntimeout = 30",
}


def cuts(text: str, unwrap_lines: str | bool = "auto") -> set[int]:
    """Return the ends of sentences, counted in characters that are not white space."""
    return {
        len("".join(text[:start].split())) for start, _ in pychunk.split_sentences(text, unwrap_lines=unwrap_lines)[0]
    }


@pytest.mark.parametrize(("kind", "marked"), [(kind, text) for kind, texts in KINDS.items() for text in texts])
def test_sentences_of_a_kind(kind: str, marked: str) -> None:
    text = marked.replace("¦", "")
    found = [text[start:end].strip() for start, end in pychunk.split_sentences(text)[0]]
    assert found == [part.strip() for part in marked.split("¦")], kind


@pytest.mark.parametrize("text", [text for texts in KINDS.values() for text in texts if "\n" not in text])
def test_a_border_depends_on_what_is_near(text: str) -> None:
    """A preceding sentence in a paragraph of its own changes none of the later cuts."""
    plain, before = text.replace("¦", ""), "Tide and wind were fair that day.\n"
    moved = {at - len("".join(before.split())) for at in cuts(before + plain, unwrap_lines=False)}
    assert cuts(plain, unwrap_lines=False) <= moved | {0}


@pytest.mark.parametrize("prose", PROSE)
@pytest.mark.parametrize("width", [24, 28, 36, 50, 60, 72, 80, 100])
def test_wrapped_prose_has_the_sentences_of_the_same_on_one_line(prose: str, width: int) -> None:
    assert cuts(textwrap.fill(prose, width)) == cuts(prose)


@pytest.mark.parametrize("kind", KEPT)
def test_short_lines_that_nobody_wrapped_stay_lines(kind: str) -> None:
    assert cuts(KEPT[kind]) == cuts(KEPT[kind], unwrap_lines=False)
    assert len(cuts(KEPT[kind])) >= len([line for line in KEPT[kind].split("\n") if line])


def test_a_hyphen_at_the_end_of_a_line_is_a_wrap() -> None:
    assert len(cuts("The fisher-\nman left.")) == 1
    assert len(cuts("The fisher\u2010\nman left.")) == 1
    for text in ("The fisher-\nMan left", "Tide -\nwind", "1-\nwind", "Tide-\n\nwind", "Tide-\n- wind"):
        assert len(cuts(text)) == 2, text
    assert len(cuts("The fisher-\nman left.", unwrap_lines=False)) == 2


def test_wrap_is_forced() -> None:
    text = "The tide\nis out. The\n\nboats\nlie\n- one\n- two\n# Three\nfour"
    found = [" ".join(text[start:end].split()) for start, end in pychunk.split_sentences(text, unwrap_lines=True)[0]]
    assert found == ["The tide is out.", "The", "boats lie", "- one", "- two", "# Three", "four"]
    assert len(cuts(text, unwrap_lines=False)) == 9
    assert len(pychunk.segment("The tide\nis out.", "sentence", unwrap_lines=True)) == 1


def test_what_wrap_may_be() -> None:
    for unwrap_lines in (0, 1, None, "on", "True"):
        with pytest.raises(ValueError, match="unwrap_lines must be 'auto', True or False"):
            pychunk.split_sentences("One.", unwrap_lines=unwrap_lines)  # type: ignore[arg-type]  # what is refused


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.text("ab .\n-Aé", max_size=200))
def test_forced_wraps_leave_no_cut_that_lines_have_not(text: str) -> None:
    assert cuts(text, unwrap_lines=True) <= cuts(text, unwrap_lines=False) | {0}


@pytest.mark.slow
def test_time_is_linear_in_lines_and_marks() -> None:
    """A hundredfold length takes less than a thousandfold time, for hyphens, quotations, brackets and others."""
    for piece in ("a-\n", "α;", "།", "“好。”他", "क. ", "А. ", "z. ", "no. (", "……", "ab cd-\nef\n", "— A? ", "1 г. "):
        taken = []
        for number in (2_000, 200_000):
            begun = time.process_time()
            pychunk.split_sentences(piece * number)
            taken.append(time.process_time() - begun)
        assert taken[1] < 1000 * max(taken[0], 0.002), piece
