"""The most frequent words of 23 languages, such as "the" and "of"; menus have few of them, prose has many."""

#: The languages in order: English, then German, French, Spanish, Portuguese, Italian, Dutch, Polish, Czech, Swedish,
#: Danish and Norwegian, Finnish, Hungarian, Romanian, Turkish, Indonesian, Vietnamese, Russian, Ukrainian, Greek,
#: Arabic, Hindi.
_STOP_WORDS = """
a about after all also an and any are as at be because been but by can could did do does for from had has have
he her here him his how i if in into is it its just like may more most my no not of on one only or other our out
over she should so some such than that the their them then there these they this to up us was we were what when
where which who will with would you your

aber als auch auf aus bei das dass dem den der des die durch ein eine einem einen einer er es für haben hat ich im ist
kann mit nach nicht noch nur oder sich sie sind und vom von vor wenn werden wie wir wird zu zum zur über

au aux avec ce ces cette comme dans de des du elle en est et fait il ils la le les leur mais ne nous ont ou par pas
plus pour que qui sa se ses son sont sur tout un une vous y être

al como con cuando de del desde donde el en entre es esta este fue ha hay la las lo los muy más nos o para pero por que
se ser si sin sobre son su sus también un una y ya

ao as com da das de do dos e ele em entre essa esse esta este foi isso já mais mas muito na nas no nos não nós o os ou
para pela pelo por quando que se sem ser seu sua são também um uma você à é

ai al alla alle anche che ci come con cui da dal dalla degli dei del della delle di e gli ha i il in la le lo loro ma
nel nella non o per più questa questo si sono stato su tra un una è

aan als bij daar dan dat de deze die dit door een en er geen heeft het hij is kan maar met meer naar niet nog om ook op
over te tot uit van voor waar wat werd worden wordt ze zich zijn zo

by być była co czy dla do i ich jak jako jego jest już który która które lub ma może na nie o od oraz po pod przez przy
się są tak to tego tylko tym w z za ze że

ale jak je jeho jejich jsem jsou ještě již k který která které může nebo není od pak po pro před při s se si tak také
tento to tím ve však z že

av de den det efter en ett från för har hur här i ingen inte kan man med men mot nu när och om på sig sin ska som till
under ut vara var vi vid är än även

at blev blir eller er et fra hun han hvor ikke jeg kan med meg mig når og sig sitt skal som så til ud ved vært være å

ei että hän ja joka jos kun kuin mutta myös niin oli olla on ovat se sekä sen tai

az egy ez ezt hogy és csak de ha is még már meg mint nem van vagy volt

au avea ca care ce cu de din după este fi fost în la lui mai nu o pe pentru prin sau se sunt un și

bir bu da daha de değil en gibi her ile için kadar ki mi ne o olan olarak olduğu sonra tarafından var ve veya ya çok

ada adalah akan anda bisa dalam dan dapat dari dengan di hanya ia ini itu juga kami karena ke kita mereka namun oleh
pada para saya sebagai sudah telah tersebut tidak untuk yang

bị bởi các cho có của cũng cùng do để được đã đến hoặc không là này nhiều những như ra sẽ thì trong tại từ vào về với và
vì ở

а без бы был была были было быть в вас вы для до его если есть еще ещё же за и из или их к как когда ли мы на не но о
он она они от по под при с со так также то только у уже чтобы что это я

але або буде був була було бути в вже він вона вони від для до є з за зі його її їх і й коли ми на не ним про при та так
також те то тільки у це що щоб як який яка які якщо

αλλά από αυτό για δεν είναι ένα η θα και με μια μας να ο οι όπως που σε στη στην στο στον τα τη την της τις το του των

أن أو إلى إن التي الذي بعد بين حتى عن على عند في قد كان كل كما لا لم ما مع من هذا هذه هو هي ذلك

एक और कर करने का किया की के को जो तक तो था थी थे ने नहीं पर भी में यह या लिए वह से है हैं हो
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
