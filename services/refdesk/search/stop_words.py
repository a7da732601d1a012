"""Words that carry no meaning of their own, a few dozen a language; knows nothing of how words are cut.

Only what stands in nearly every text is listed: for ranking, the inverse document frequency does the rest.
"""

from __future__ import annotations

_LISTS = {
    "en": """a about an and any are as at be been but by can could did do does for from had has have how i if in into is it its me my
        of on or our shall should so some such than that the their them then there these they this those to was we were what when where
        which who whom whose why will with would you your s t d m ll re ve don doesn didn isn aren""",
    "de": """als am an auch auf aus bei bin bis das dass dem den der des die dies diese diesem diesen dieser dieses durch ein eine einem
        einen einer eines er es für hat ich ihr im in ist kann man mein mit nach nicht noch oder sein sich sie sind so um und uns unser
        von vor war was wenn wer werden wie wir wird wo zu zum zur über""",
    "fr": """à au aux avec c ce ces cet cette comment d dans de des du elle en est et il ils j je l la le les leur lui ma mais me mes
        mon n ne nos notre nous on ou où par pas pour qu que quel quelle quels qui s sa se ses son sont sur ta tes ton tu un une vos
        votre vous y""",
    "es": """a al como con cuando cuál cómo de del desde donde dónde el ella en es esta este esto la las le les lo los mi más no nos o
        para pero por que qué quién se ser si sin son su sus también te tu un una y ya yo""",
    "it": """a ad ai al alla alle anche che chi ci come con cosa da dal dalla dei del della delle di dove e è ed gli ha ho i il in io la
        le lo ma mi nel nella nelle non o per perché più quale quando questa questo se si sono su sua suo un una uno""",
    "pt": """a ao aos as até com como da das de do dos e é ela ele em entre era essa esse esta este eu foi há isso já mais mas me meu
        minha na nas no nos não o onde os ou para pela pelo por qual quando que quem se sem ser seu sua são também um uma você""",
    "nl": """aan als bij dan dat de deze die dit door een en er haar heb heeft het hij hoe ik in is je kan maar met mijn na naar niet nog
        of om onder ons ook op over te tot u uit van voor wanneer waar was wat we wie wij worden wordt ze zich zijn""",
    "sv": "att av de den det du en ett för från har hur i inte jag kan med men när och om på som till var vi vad är",
    "da": "af at de den der det du en er et for fra har hvad hvor hvordan i ikke jeg kan med men når og om på som til var vi",
    "no": "av at de den det du en er et for fra har hva hvor hvordan i ikke jeg kan med men når og om på som til var vi",
    "fi": "ei että hän ja jos joka kuin kun mikä miten mitä mutta myös ne niin nyt oli on ovat se sen tai tämä",
    "ru": """а без бы был была были было быть в вам вас вы где да для до его ее если есть еще же за и из или им их к как какая какой
        когда который кто мне мой мы на над не него нет но о об он она они от по при с так там то только ты у уже что чтобы эта эти это
        я""",
    "tr": "ama bir bu da daha de gibi hangi için ile ise kadar ki mi mı mu mü nasıl ne nedir neden o olan olarak ve veya ya",
    "hu": "a az de egy ez és hogy hogyan is ha ki meg mi nem vagy van volt",
    "ro": "a al ale ca care cu cum de din este în la mai nu o pe pentru prin sau se sunt un unde",
}

STOP_WORDS: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _LISTS.items()}
"""Lower-case words by ISO 639-1 code; a language without a list has no stop words."""
