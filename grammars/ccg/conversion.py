"""Binary CCG derivations from projective dependency trees.

convert  the derivation of a sentence's tree, or ConversionError with the reason why it has none

Each head takes its dependents one by one, on either side from the inside outwards, so that every binary node stands for
one arc of the tree; every step is one of grammars.ccg.step. What a dependent is follows from its role:

- subjects, objects and complements are arguments of their head; fronted ones leave it a gap (S/NP), and a subject
  before a gap is raised;
- auxiliaries, prepositions, subordinating and relative words are functors over the phrase built so far, the outermost
  giving the category that the whole is wanted as;
- conjuncts are joined by `conj` to the first of their head's categories that is like theirs;
- all others modify what their head is at that point, X|X: short ones by the category of their word, clauses and noun
  phrases by a type change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from grammars.ccg.derivation import MAXIMUM_DEPTH, Derivation, fold
from grammars.ccg.relation import (
    NOUN_RELATIONS,
    Role,
    find_scheme,
    is_nominal,
    mark_category,
    verb_feature,
    with_coordinators,
)
from grammars.ccg.step import (
    BACKWARD,
    FORWARD,
    MODIFIED,
    NP,
    PP,
    VP,
    ConversionError,
    N,
    S,
    absorb,
    adjunct_category,
    change,
    combine,
    coordinate,
    functor,
    gaps_of,
    inner_phrase,
    level_of,
    result_of,
    without_features,
)
from grammars.ccg.tree import CLAUSE_TAGS, LEFT, NOUN_MODIFIERS, RIGHT, Places, RoleTree
from grammars.conllu import ConlluSentence, is_projective, is_usable
from gyro.text.corpus import ROOT

MOST_PARTS = 2  # pieces of a word that its first piece looks for; later ones modify it


@dataclass(frozen=True)
class _Use:
    """What a subtree is wanted for: a category to end with ("": its own), missing arguments, dependents left out.

    With `is_functor` the word itself has that category, whatever it is and whatever depends on it.
    """

    target: str = ""
    is_functor: bool = False
    is_embedded: bool = False
    gaps: tuple[str, ...] = ()
    left_out: frozenset[int] = frozenset()

    @property
    def modifier(self) -> str:
        """The category, if there is one, that dependents modify as a whole."""
        return result_of(self.target) if self.is_functor else self.target


@dataclass(frozen=True)
class _State:
    """A head with the dependents that it has taken, and those that wait, from the inside outwards."""

    head: int
    use: _Use
    built: Derivation
    left: Places
    right: Places
    arguments: frozenset[int]  # those on the right that the head looks for
    fronted: int | None  # the one on the left that it looks for on the right

    @property
    def category(self) -> str:
        return self.built.category


def convert(sentence: ConlluSentence, scheme: str = "") -> Derivation:
    """The derivation of a sentence's tree, or ConversionError; the scheme of its labels is found if not given.

    >>> from grammars.ccg.derivation import auto_text
    >>> from grammars.conllu import ConlluToken
    >>> dogs = ConlluToken("dogs", "dog", "NOUN", "NNS", "_", 1, "nsubj")
    >>> bark = ConlluToken("bark", "bark", "VERB", "VBP", "_", ROOT, "root")
    >>> print(auto_text(convert(ConlluSentence((dogs, bark)))))
    (<T S[dcl] ba 1 2> (<T NP lex 0 1> (<L N NNS NNS dogs N>) ) (<L S[dcl]\\NP VBP VBP bark S[dcl]\\NP>) )
    """
    if None in sentence.heads or ROOT not in sentence.heads:
        raise ConversionError("heads are missing")
    if not is_projective(sentence.heads):
        raise ConversionError("the tree is not projective")
    if not is_usable(sentence):
        raise ConversionError("a form is not a token")
    scheme = scheme or find_scheme(sentence)
    tree = RoleTree(with_coordinators(sentence) if scheme == "spacy" else sentence, scheme)
    try:
        derivation = _Converter(tree).build(sentence.heads.index(ROOT), _Use())
    except RecursionError as error:
        raise ConversionError("the tree is too deep") from error
    if fold(derivation, lambda leaf: 1, lambda node, depths: 1 + max(depths)) > MAXIMUM_DEPTH:
        raise ConversionError("the derivation is too deep")
    return derivation


class _Converter:
    """One sentence; each subtree is built once for each use."""

    def __init__(self, tree: RoleTree) -> None:
        self._tree = tree
        self._built: dict[tuple[int, _Use], Derivation] = {}

    def build(self, head: int, use: _Use) -> Derivation:
        """The derivation of a head with all under it."""
        if (head, use) not in self._built:
            state = self._start(head, use)
            while state.left or state.right:
                state = self._step(state)
            self._built[head, use] = self._finish(state)
        return self._built[head, use]

    def _finish(self, state: _State) -> Derivation:
        target = state.use.target
        is_noun = state.category == N and target not in NOUN_MODIFIERS
        if is_noun or (target == "NP/N" and state.category != target):
            return change(change(state.built, NP), target or NP)
        return change(state.built, target) if target else state.built

    def _start(self, head: int, use: _Use) -> _State:
        """The head's word, with a slot in its category for each argument."""
        left, right = (
            tuple(place for place in places[head] if place not in use.left_out)
            for places in (self._tree.left, self._tree.right)
        )
        is_short = bool(use.target) and (use.is_functor or self._tree.is_short(head, use.target, left, right))
        fronted = None if is_short else self._fronted(head, left)
        gaps = len(use.gaps) + (fronted is not None)
        arguments = () if use.is_functor else self._tree.arguments(head, gaps)
        category = use.target if is_short else self._own_category(head, use, left, right, arguments)
        for place in [*([] if fronted is None else [fronted]), *reversed(arguments)]:
            category = functor(category, "/", self._argument(place).category)
        parts = tuple(takewhile(self._tree.is_part, right))[:MOST_PARTS]
        for _ in parts:
            category = functor(category, "/", "PR")
        built = self._tree.leaf(head, category)
        return _State(head, use, built, left, right, frozenset((*arguments, *parts)), fronted)

    def _own_category(self, head: int, use: _Use, left: Places, right: Places, arguments: Places) -> str:
        """The category of the phrase that the head makes of itself, and the gaps that are wanted in it."""
        token = self._tree.tokens[head]
        if is_nominal(token):
            has_noun_parts = any(map(self._tree.is_noun_part, left)) or self._tree.is_beside_noun(right)
            return N if token.upos not in ("PRON", "DET") or has_noun_parts else NP
        if token.upos not in CLAUSE_TAGS:
            return {"ADP": PP, "INTJ": "S[intj]"}.get(token.upos, "S[frg]")
        auxiliaries = [self._tree.tokens[place] for place in left if self._tree.roles[place] is Role.AUXILIARY]
        category = f"S[{'adj' if token.upos in ('ADJ', 'ADV') else verb_feature(token, auxiliaries)}]"
        is_inverted = self._tree.has_role(arguments, Role.SUBJECT) and not self._tree.has_role(left, Role.SUBJECT)
        if not is_inverted:
            category = functor(category, "\\", NP)
        for gap in use.gaps:
            category = functor(category, "/", gap)
        return category

    def _fronted(self, head: int, left: Places) -> int | None:
        """The object or predicate outside of the subject, a noun phrase, for which a verb has a gap on its right."""
        fronted: int | None = None
        for place in left if self._tree.tokens[head].upos in ("VERB", "AUX") else ():
            role = self._tree.roles[place]
            if role in (Role.OBJECT, Role.COMPLEMENT) and self._argument(place).category == NP:
                fronted = place
            elif role is Role.SUBJECT:
                fronted = None
        return fronted

    def _argument(self, place: int) -> Derivation:
        """An argument: of any category if it is a complement, or a clause behind its predicate, else a noun phrase."""
        built = self.build(place, _Use(is_embedded=True))
        return built if self._tree.is_complement(place) else change(built, NP)

    def _step(self, state: _State) -> _State:
        """Take the next dependent."""
        if state.category == N:
            if state.right and self._tree.is_beside_noun(state.right):
                return self._take_right(state)
            if state.left and self._tree.is_noun_level(state.left):
                return self._take_left(state)
            return replace(state, built=change(state.built, NP))
        if not state.right or self._waits(state):
            return self._take_left(state)
        if self._tree.roles[state.right[0]] is Role.CONJUNCT:
            return self._conjoin(state)
        return self._take_right(state)

    def _take_left(self, state: _State) -> _State:
        return replace(state, built=self._attach(state, state.left[0], LEFT), left=state.left[1:])

    def _take_right(self, state: _State) -> _State:
        return replace(state, built=self._attach(state, state.right[0], RIGHT), right=state.right[1:])

    def _waits(self, state: _State) -> bool:
        """Should the next dependent on the right wait for one on the left?"""
        if not state.left:
            return False
        if all(map(self._tree.is_mark, state.right)):  # closing marks stand outside of all but functors
            closes = self._tree.has_role(state.left[:1], Role.FUNCTOR, Role.COORDINATOR, Role.PUNCTUATION)
            opens = state.left[0] == self._introducer(state) and bool(state.use.target or state.use.is_embedded)
            return not closes and not opens
        if self._tree.has_role(state.right[:1], Role.CONJUNCT, Role.PUNCTUATION, Role.AUXILIARY):
            return False
        is_predicate = self._tree.has_role(state.left, Role.AUXILIARY, Role.SUBJECT)
        is_of_noun = self._tree.tokens[state.right[0]].deprel.partition(":")[0] in NOUN_RELATIONS
        return without_features(state.category) in (NP, PP) and is_predicate and not is_of_noun

    def _attach(self, state: _State, place: int, side: str) -> Derivation:
        """The head with a dependent on one side, by its role; as an adjunct where no rule gives that."""
        if self._tree.is_mark(place):
            return self._absorb(state.built, place, side)
        try:
            if place in state.arguments:
                argument = self._tree.leaf(place, "PR") if self._tree.is_part(place) else self._argument(place)
                return combine(state.built, argument, 0, ("fa",))
            if not state.use.is_functor and state.category != state.use.target:
                return self._attach_by_role(state, place, side)
        except ConversionError:
            if place in state.arguments:
                raise
        return self._attach_adjunct(state, place, side)

    def _attach_by_role(self, state: _State, place: int, side: str) -> Derivation:
        if side == LEFT and place == self._introducer(state):
            return self._introduce(state, place)
        if place == state.fronted:
            return self._attach_fronted(state, place)
        attach = {
            Role.AUXILIARY: self._attach_auxiliary,
            Role.FUNCTOR: self._attach_functor,
            Role.SUBJECT: self._attach_subject,
        }.get(self._tree.roles[place], self._attach_adjunct)
        return attach(state, place, side)

    def _attach_adjunct(self, state: _State, place: int, side: str) -> Derivation:
        if state.category == N and self._tree.roles[place] is Role.DETERMINER and side == LEFT:
            return self._pair(state.built, self.build(place, _Use("NP/N")), side)
        wanted = adjunct_category(level_of(state.category, state.use.modifier, side), side)
        return self._pair(state.built, self.build(place, _Use(wanted)), side)

    def _attach_auxiliary(self, state: _State, place: int, side: str) -> Derivation:
        """An auxiliary, a copula or the "to" of an infinitive: a functor that changes the feature of the S."""
        built, feature = state.built, verb_feature(self._tree.tokens[place])
        feature = "pt" if feature == "pss" else feature
        phrase = inner_phrase(built.category)
        is_inverted = not self._tree.has_role(self._tree.left[state.head], Role.SUBJECT)
        if without_features(phrase) not in (S, VP) and is_inverted and self._tree.has_role(state.right, Role.SUBJECT):
            built, phrase = change(built, "S[adj]/NP"), "S[adj]"
        # A clause with its own subject is a predicate itself where another subject follows.
        if without_features(phrase) == S and not self._tree.has_role(state.left, Role.SUBJECT):
            result = "S[q]" if feature == "dcl" else f"S[{feature}]"
        else:
            result = functor(f"S[{feature}]", "\\", NP)
        return self._pair(built, self._functor_word(place, functor(result, side, phrase)), side)

    def _attach_functor(self, state: _State, place: int, side: str) -> Derivation:
        """A preposition or subordinating word; the last one gives the category that is wanted."""
        waiting = [other for other in (*state.left, *state.right) if other != place]
        is_last = not self._tree.has_role(waiting, Role.FUNCTOR) and self._introducer(state) is None
        phrase = inner_phrase(state.category)
        own = "S[em]" if without_features(phrase) == S else PP
        result = state.use.target if is_last and state.use.target else own
        return self._pair(state.built, self._functor_word(place, functor(result, side, phrase)), side)

    def _attach_subject(self, state: _State, place: int, side: str) -> Derivation:
        built = state.built
        if without_features(built.category) in (NP, PP):
            built = change(built, "S[adj]\\NP" if side == LEFT else "S[adj]/NP")
        if side == RIGHT:
            return combine(built, self._argument(place), 0, ("fa",))
        if without_features(built.category) == VP:
            return combine(self._argument(place), built, 1, ("ba",))
        return combine(change(self._argument(place), "S/(S\\NP)"), built, 1, FORWARD)

    def _attach_fronted(self, state: _State, place: int) -> Derivation:
        level = level_of(state.category, "", LEFT)
        raised = change(self._argument(place), functor(level, "/", functor(level, "/", NP)))
        return combine(raised, state.built, 1, ("fa",))

    def _introducer(self, state: _State) -> int | None:
        """The question word that opens a clause, if it is a functor over it."""
        place = self._tree.opening_question_word(state.left)
        if place is None:
            return None
        role = self._tree.roles[place]
        if role is Role.SUBJECT:
            return place if state.use.target or state.use.is_embedded else None
        has_verb = self._tree.tokens[state.head].upos in ("VERB", "AUX")
        is_clause = has_verb or self._tree.has_role(self._tree.left[state.head], Role.AUXILIARY, Role.SUBJECT)
        return place if is_clause and (role is Role.ADJUNCT or place == state.fronted) else None

    def _introduce(self, state: _State, place: int) -> Derivation:
        result = state.use.target or ("S[em]" if state.use.is_embedded else "S[wq]")
        word = self._functor_word(place, functor(result, "/", state.category))
        return combine(word, state.built, 1, ("fa",))

    def _conjoin(self, state: _State) -> _State:
        """Join the conjunct on the right to the first category like its own that the head has, now or further left."""
        place = state.right[0]
        coordinator, opening = self._tree.coordinator(place)
        use = _Use(left_out=opening)
        own = self.build(place, use)
        remaining = replace(state, right=state.right[1:])
        for later in self._further_left(state):
            like = self._like(later, place, own, use)
            if like is not None and (coordinator is not None or without_features(like.category) in MODIFIED):
                joined = self._open(self._coordinate(like, coordinator), opening - {coordinator})
                return replace(remaining, built=combine(later.built, joined, 0, ("ba",)), left=later.left)
        wanted = adjunct_category(level_of(state.category, state.use.modifier, RIGHT), RIGHT)
        if coordinator is None or self._tree.is_mark(coordinator):
            return replace(remaining, built=self._pair(state.built, self.build(place, _Use(wanted)), RIGHT))
        word = self._tree.leaf(coordinator, functor(wanted, "/", own.category))
        joined = self._open(combine(word, own, 1, ("fa",)), opening - {coordinator})
        return replace(remaining, built=self._pair(state.built, joined, RIGHT))

    def _further_left(self, state: _State) -> Iterator[_State]:
        """The state, and those after each of the dependents on the left, unless arguments on the right come first."""
        yield state
        while state.left and not any(place in state.arguments for place in state.right):
            try:
                state = self._take_left(state)
            except ConversionError:
                return
            yield state

    def _like(self, state: _State, place: int, own: Derivation, use: _Use) -> Derivation | None:
        """The conjunct under the head's category, if it can be had without a type change."""
        if own.category == state.category:
            return own
        if state.category == state.use.target:
            has_functor = self._tree.has_role(self._tree.left[place], Role.FUNCTOR)
            is_ready = has_functor or self._tree.is_short_conjunct(place, state.category)
            return self.build(place, replace(use, target=state.category)) if is_ready else None
        if self._tree.tokens[place].upos not in CLAUSE_TAGS or not gaps_of(state.category):
            return None
        try:
            gapped = self.build(place, replace(use, gaps=gaps_of(state.category)))
        except ConversionError:
            return None
        return gapped if gapped.category == state.category else None

    def _coordinate(self, conjunct: Derivation, coordinator: int | None) -> Derivation:
        if coordinator is None:
            return change(conjunct, adjunct_category(without_features(conjunct.category), RIGHT))
        is_mark = self._tree.is_mark(coordinator)
        category = mark_category(self._tree.tokens[coordinator]) if is_mark else "conj"
        return coordinate(self._tree.leaf(coordinator, category), conjunct)

    def _open(self, built: Derivation, marks: frozenset[int]) -> Derivation:
        """The derivation behind its opening marks."""
        for place in sorted(marks, reverse=True):
            built = self._absorb(built, place, LEFT)
        return built

    def _pair(self, built: Derivation, other: Derivation, side: str) -> Derivation:
        """The head with a functor on one side of it."""
        return combine(other, built, 1, FORWARD) if side == LEFT else combine(built, other, 0, BACKWARD)

    def _absorb(self, built: Derivation, place: int, side: str) -> Derivation:
        mark = self._tree.leaf(place, mark_category(self._tree.tokens[place]))
        return absorb(mark, built, 1) if side == LEFT else absorb(built, mark, 0)

    def _functor_word(self, place: int, category: str) -> Derivation:
        return self.build(place, _Use(category, is_functor=True))
