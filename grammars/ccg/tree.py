"""A dependency tree as the conversion to CCG looks at it.

RoleTree  the tokens of a sentence with their roles and dependents, and questions about them
LEFT      the slash of a functor that stands on the left of its argument
RIGHT     that of one on the right
"""

from __future__ import annotations

from collections.abc import Iterable

from grammars.ccg.derivation import Leaf
from grammars.ccg.relation import NOUN_RELATIONS, Role, is_question_word, mark_category, role_of
from grammars.ccg.step import adjunct_category, level_of
from grammars.conllu import ConlluSentence
from gyro.text.corpus import ROOT

LEFT, RIGHT = "/", "\\"
COORDINATING_MARKS = (",", ":")
NOUN_MODIFIERS = ("N/N", "N\\N")
CLAUSE_TAGS = frozenset(("VERB", "AUX", "ADJ", "ADV"))
OPEN_CLASS = frozenset(("NOUN", "PROPN", "PRON", "NUM"))
# With more, an adjunct before the first would need a composition over three arguments, which no rule gives.
MOST_ARGUMENTS = 2

Places = tuple[int, ...]


class RoleTree:
    """The tokens of a sentence, their roles, and the dependents on either side from the inside outwards."""

    def __init__(self, sentence: ConlluSentence, scheme: str) -> None:
        self.tokens = sentence.tokens
        self.roles = [role_of(token, scheme) for token in sentence.tokens]
        left: list[list[int]] = [[] for _ in sentence.tokens]
        right: list[list[int]] = [[] for _ in sentence.tokens]
        for place, head in enumerate(sentence.heads):
            if head is not None and head != ROOT:
                (left if place < head else right)[head].append(place)
        self.left = [tuple(reversed(places)) for places in left]
        self.right = [tuple(places) for places in right]

    def leaf(self, place: int, category: str) -> Leaf:
        """The word under a category."""
        token = self.tokens[place]
        return Leaf.plain(category, token.form, token.xpos)

    def is_single(self, place: int) -> bool:
        """Has the token no dependents?"""
        return not self.left[place] and not self.right[place]

    def is_mark(self, place: int) -> bool:
        """Is it a punctuation mark, to be absorbed?"""
        return self.roles[place] is Role.PUNCTUATION and self.is_single(place)

    def is_part(self, place: int) -> bool:
        """Is it the second or a later piece of a word?"""
        return self.roles[place] is Role.PART and self.is_single(place)

    def has_role(self, places: Iterable[int], *roles: Role) -> bool:
        """Has one of the tokens one of the roles?"""
        return any(self.roles[place] in roles for place in places)

    def is_noun_part(self, place: int) -> bool:
        """Does it belong to a noun phrase, whatever that phrase does?"""
        relation = self.tokens[place].deprel.partition(":")[0]
        return self.roles[place] in (Role.DETERMINER, Role.INNER) or relation in NOUN_RELATIONS

    def is_noun_level(self, left: Places) -> bool:
        """Does the next dependent modify the noun, not the noun phrase?"""
        if self.is_noun_part(left[0]):
            return True
        if self.has_role(left[:1], Role.FUNCTOR, Role.AUXILIARY, Role.SUBJECT):
            return False
        if self.is_mark(left[0]):
            return len(left) > 1 and self.is_noun_level(left[1:])
        return self.has_role(left, Role.DETERMINER)

    def is_beside_noun(self, right: Places) -> bool:
        """Is the next dependent one beside its noun, or a mark before such a one?"""
        beside = next((place for place in right if not self.is_mark(place)), None)
        return beside is not None and (self.roles[beside] is Role.INNER or self.is_part(right[0]))

    def arguments(self, head: int, gaps: int = 0) -> Places:
        """The dependents on the right that a verb, adjective, adverb or preposition looks for."""
        upos = self.tokens[head].upos
        wanted = [Role.OBJECT, Role.COMPLEMENT]
        if upos in CLAUSE_TAGS:
            wanted.append(Role.SUBJECT)
        elif upos != "ADP":
            return ()
        return tuple(place for place in self.right[head] if self.roles[place] in wanted)[
            : max(MOST_ARGUMENTS - gaps, 0)
        ]

    def is_complement(self, place: int) -> bool:
        """Is it an argument of any category: a complement, or a subject clause behind its predicate?"""
        is_late_clause = self.tokens[place].deprel.startswith("csubj") and place > (self.tokens[place].head or 0)
        return self.roles[place] is Role.COMPLEMENT or is_late_clause

    def is_short(self, head: int, target: str, left: Places, right: Places) -> bool:
        """Can the word itself have the category that its phrase is wanted as?"""
        upos = self.tokens[head].upos
        if upos in ("VERB", "AUX"):
            return target in NOUN_MODIFIERS and not left and not right
        if upos in OPEN_CLASS and target not in (*NOUN_MODIFIERS, "NP/N", "(N/N)/(N/N)"):
            return False
        arguments = self.arguments(head) if upos == "ADP" else ()
        return all(self._is_short_left(place, target) for place in left) and all(
            self.is_mark(place) or self.is_part(place) or place in arguments or self.is_short_conjunct(place, target)
            for place in right
        )

    def _is_short_left(self, place: int, target: str) -> bool:
        if self.is_mark(place):
            return True
        if not self.has_role((place,), Role.ADJUNCT, Role.DETERMINER, Role.INNER, Role.COORDINATOR):
            return False
        wanted = adjunct_category(level_of(target, target, LEFT), LEFT)
        return self.is_short(place, wanted, self.left[place], self.right[place])

    def is_short_conjunct(self, place: int, target: str) -> bool:
        """The same for a conjunct, without the coordinator."""
        _, opening = self.coordinator(place)
        left = tuple(other for other in self.left[place] if other not in opening)
        return self.roles[place] is Role.CONJUNCT and self.is_short(place, target, left, self.right[place])

    def coordinator(self, place: int) -> tuple[int | None, frozenset[int]]:
        """The coordinator or mark that opens a conjunct, and all that stands before the conjunct with it."""
        opening: list[int] = []
        for other in reversed(self.left[place]):
            if self.roles[other] is Role.COORDINATOR and self.is_single(other):
                return other, frozenset((*opening, other))
            if not self.is_mark(other):
                break
            opening.append(other)
        mark = next((o for o in opening[-1:] if mark_category(self.tokens[o]) in COORDINATING_MARKS), None)
        return mark, frozenset(opening)

    def opening_question_word(self, left: Places) -> int | None:
        """The single question word that is the outermost of the dependents, marks and coordinators aside."""
        outer = next((p for p in reversed(left) if not self.has_role((p,), Role.PUNCTUATION, Role.COORDINATOR)), None)
        if outer is None or not self.is_single(outer) or not is_question_word(self.tokens[outer]):
            return None
        return outer
