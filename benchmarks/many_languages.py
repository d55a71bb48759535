"""Statements and questions on unlike subjects in ten languages, for the centre of a multilingual space."""

from __future__ import annotations

STATEMENTS = {
    "es": [
        "El puerto reabrió el lunes después de tres días de tormenta.",
        "La harina se mezcla con agua tibia y se deja reposar una hora.",
        "El tribunal rechazó el recurso presentado por la empresa.",
        "Las células de la hoja convierten la luz en azúcar.",
        "La orquesta fue fundada en 1911 por un grupo de maestros.",
    ],
    "zh": [
        "经过三天的暴风雨,港口于星期一重新开放。",
        "将面粉与温水混合,静置一小时。",
        "法院驳回了该公司提出的上诉。",
        "叶子的细胞把光转化为糖。",
        "这支乐团由一群教师于1911年创立。",
    ],
    "de": [
        "Der Hafen öffnete am Montag nach drei Tagen Sturm wieder.",
        "Das Mehl wird mit lauwarmem Wasser vermengt und ruht eine Stunde.",
        "Das Gericht wies die Berufung des Unternehmens zurück.",
        "Die Zellen des Blattes wandeln Licht in Zucker um.",
        "Das Orchester wurde 1911 von einigen Lehrern gegründet.",
    ],
    "fr": [
        "Le port a rouvert lundi après trois jours de tempête.",
        "On mélange la farine avec de l'eau tiède et on laisse reposer une heure.",
        "Le tribunal a rejeté le recours de l'entreprise.",
        "Les cellules de la feuille transforment la lumière en sucre.",
        "L'orchestre fut fondé en 1911 par un groupe d'instituteurs.",
    ],
    "pt": [
        "O porto reabriu na segunda-feira após três dias de tempestade.",
        "Mistura-se a farinha com água morna e deixa-se descansar uma hora.",
        "O tribunal rejeitou o recurso da empresa.",
        "As células da folha transformam a luz em açúcar.",
        "A orquestra foi fundada em 1911 por um grupo de professores.",
    ],
    "ru": [
        "Порт вновь открылся в понедельник после трёх дней шторма.",
        "Муку смешивают с тёплой водой и оставляют на час.",
        "Суд отклонил апелляцию компании.",
        "Клетки листа превращают свет в сахар.",
        "Оркестр основала в 1911 году группа учителей.",
    ],
    "ar": [
        "أعيد فتح الميناء يوم الاثنين بعد ثلاثة أيام من العاصفة.",
        "يخلط الدقيق بالماء الفاتر ويترك ساعة ليرتاح.",
        "رفضت المحكمة الاستئناف الذي قدمته الشركة.",
        "تحول خلايا الورقة الضوء إلى سكر.",
        "أسس الأوركسترا عام 1911 مجموعة من المعلمين.",
    ],
    "hi": [
        "तीन दिन के तूफ़ान के बाद बंदरगाह सोमवार को फिर खुला।",
        "आटे को गुनगुने पानी में मिलाकर एक घंटे के लिए छोड़ दें।",
        "अदालत ने कंपनी की अपील खारिज कर दी।",
        "पत्ती की कोशिकाएँ प्रकाश को शर्करा में बदलती हैं।",
        "इस वाद्यवृंद की स्थापना 1911 में कुछ शिक्षकों ने की थी।",
    ],
    "ja": [
        "港は三日間の嵐のあと月曜日に再開した。",
        "小麦粉をぬるま湯と混ぜ、一時間休ませる。",
        "裁判所は会社の控訴を棄却した。",
        "葉の細胞は光を糖に変える。",
        "この楽団は1911年に教師たちによって設立された。",
    ],
    "ko": [
        "항구는 사흘간의 폭풍 끝에 월요일에 다시 열렸다.",
        "밀가루를 미지근한 물과 섞어 한 시간 동안 둔다.",
        "법원은 회사의 항소를 기각했다.",
        "잎의 세포는 빛을 당으로 바꾼다.",
        "이 악단은 1911년에 교사들이 창단했다.",
    ],
}
QUESTIONS = {
    "es": ["¿Quién escribió esta novela?", "¿Cuántos habitantes tiene la ciudad?", "¿Por qué se oxida el hierro?"],
    "zh": ["这部小说是谁写的?", "这座城市有多少居民?", "铁为什么会生锈?"],
    "de": ["Wer schrieb diesen Roman?", "Wie viele Einwohner hat die Stadt?", "Warum rostet Eisen?"],
    "fr": ["Qui a écrit ce roman ?", "Combien d'habitants compte la ville ?", "Pourquoi le fer rouille-t-il ?"],
    "pt": ["Quem escreveu este romance?", "Quantos habitantes tem a cidade?", "Por que o ferro enferruja?"],
    "ru": ["Кто написал этот роман?", "Сколько жителей в городе?", "Почему ржавеет железо?"],
    "ar": ["من كتب هذه الرواية؟", "كم عدد سكان المدينة؟", "لماذا يصدأ الحديد؟"],
    "hi": ["यह उपन्यास किसने लिखा?", "शहर की आबादी कितनी है?", "लोहे में ज़ंग क्यों लगता है?"],
    "ja": ["この小説を書いたのは誰ですか。", "その都市の人口は何人ですか。", "鉄はなぜ錆びるのですか。"],
    "ko": ["이 소설은 누가 썼습니까?", "그 도시의 인구는 몇 명입니까?", "철은 왜 녹습니까?"],
}
