"""The grammars of programming languages by the endings of file names, and the names of their nodes that matter."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

#: The package of each grammar, its function if that is not ``language``, and the endings of file names.
_GRAMMARS = (
    ("tree_sitter_python", "", ".py .pyi"),
    ("tree_sitter_javascript", "", ".js .mjs .jsx"),
    ("tree_sitter_typescript", "language_typescript", ".ts"),
    ("tree_sitter_typescript", "language_tsx", ".tsx"),
    ("tree_sitter_java", "", ".java"),
    ("tree_sitter_go", "", ".go"),
    ("tree_sitter_rust", "", ".rs"),
    ("tree_sitter_c", "", ".c"),
    ("tree_sitter_cpp", "", ".h .cc .cpp .hpp"),
    ("tree_sitter_c_sharp", "", ".cs"),
    ("tree_sitter_ruby", "", ".rb"),
    ("tree_sitter_php", "language_php", ".php"),
    ("tree_sitter_bash", "", ".sh"),
    ("tree_sitter_sql", "", ".sql"),
)
_OF = {ending: (package, function) for package, function, endings in _GRAMMARS for ending in endings.split()}
#: The endings of the files that are read as code.
ENDINGS = tuple(_OF)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The names of nodes of all grammars. No name means different things in two of them, except for the roots, which are
# never compared with these names.
#: The nodes that define a name.
DEFINITIONS = _names(
    "function_definition class_definition function_declaration generator_function_declaration class_declaration "
    "abstract_class_declaration method_definition interface_declaration enum_declaration internal_module module "
    "record_declaration annotation_type_declaration method_declaration constructor_declaration type_declaration "
    "compact_constructor_declaration destructor_declaration operator_declaration namespace_declaration "
    "struct_declaration function_item impl_item trait_item mod_item struct_item enum_item union_item "
    "macro_definition struct_specifier class_specifier union_specifier enum_specifier namespace_definition class "
    "method singleton_method singleton_class trait_declaration create_table create_view create_function "
    "create_trigger"
)
#: The nodes that hold one definition, with its decorators, its template or a keyword.
WRAPPERS = _names("decorated_definition export_statement ambient_declaration template_declaration statement")
#: The statements whose value may be a function, and the functions that are values.
ASSIGNMENTS = frozenset(["lexical_declaration", "variable_declaration", "expression_statement"])
FUNCTIONS = frozenset(["arrow_function", "function_expression", "generator_function", "class", "internal_module"])
#: The nodes whose parts count as if they were outside of the node.
TRANSPARENT = _names(
    "preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list "
    "enum_body_declarations class_body_declarations"
)
#: The statements in which definitions may be, as in ``if TYPE_CHECKING:``, and the nodes between.
CONDITIONS = frozenset(["if_statement", "try_statement", "with_statement", "for_statement", "while_statement"])
CLAUSES = _names("block statement_block else_clause elif_clause except_clause finally_clause catch_clause")
#: The nodes that import names.
IMPORTS = _names(
    "import_statement import_from_statement future_import_statement import_declaration use_declaration "
    "preproc_include using_directive namespace_use_declaration package_declaration package_clause "
    "extern_crate_declaration"
)
#: The nodes that belong to what follows them.
LEADING = _names(
    "comment line_comment block_comment attribute_item attribute_list decorator marginalia access_specifier"
)


@functools.cache
def parser_of(ending: str) -> tree_sitter.Parser | None:
    """Return the parser of the files with an ending; None if there is none, or its packages are not installed."""
    package, function = _OF.get(ending, ("", ""))
    if not package:
        return None
    try:
        import tree_sitter

        grammar = importlib.import_module(package)
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, function or "language")()))
