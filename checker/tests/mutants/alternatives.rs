//! What a piece of the model's source could wrongly be.

#![expect(clippy::wildcard_enum_match_arm, reason = "syn's enums are open on purpose")]

use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, Lit, Pat, UnOp, parse_quote};

/// The source of a piece of syntax on one line.
pub(crate) fn text(syntax: &impl Spanned) -> String {
    let source = syntax.span().source_text().unwrap_or_default();
    source.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning and the end of what is too long for a name.
pub(crate) fn shorten(text: &str) -> String {
    const HEAD: usize = 60;
    const TAIL: usize = 30;
    let length = text.chars().count();
    if length <= HEAD + TAIL {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    format!("{head} ... {tail}")
}

/// Whether a condition binds names, or is a chain of which a part does.
pub(crate) fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary { left, op: BinOp::And(_), right, .. }) => {
            binds(left) || binds(right)
        }
        _ => false,
    }
}

/// Whether a pattern binds no name, so that its arm can do what another such arm does.
pub(crate) fn binds_nothing(pattern: &Pat) -> bool {
    match pattern {
        Pat::Path(_) | Pat::Lit(_) => true,
        // A name that begins with a capital is a constant or a variant.
        Pat::Ident(name) => name.ident.to_string().starts_with(char::is_uppercase),
        Pat::TupleStruct(variant) => {
            variant.elems.iter().all(|part| matches!(part, Pat::Wild(_) | Pat::Rest(_)))
        }
        Pat::Struct(variant) => variant.fields.is_empty(),
        Pat::Or(either) => either.cases.iter().all(binds_nothing),
        Pat::Paren(inner) => binds_nothing(&inner.pat),
        _ => false,
    }
}

/// What an expression could wrongly be, as text and as syntax.
pub(crate) fn alternatives(expr: &Expr) -> Vec<(String, Expr)> {
    match expr {
        Expr::Binary(binary) if !binds(expr) => {
            let ExprBinary { left, right, .. } = binary;
            let with = |op: BinOp| {
                let mutated = format!("{} {} {}", text(left), op.to_token_stream(), text(right));
                let place = is_assignment(&op);
                let left = if place { quote!(#left) } else { quote!((#left)) };
                (mutated, parse_quote!(#left #op (#right)))
            };
            other_operators(&binary.op).into_iter().map(with).collect()
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
            // Twice, because of what may be a reference the first makes a value.
            vec![(text(&unary.expr), parse_quote!(!#unary))]
        }
        Expr::Lit(literal) => other_literals(&literal.lit),
        Expr::MethodCall(call) => {
            let Some(method) = other_method(&call.method.to_string()) else { return Vec::new() };
            let mut other = call.clone();
            other.method = syn::Ident::new(method, call.method.span());
            let mutated = text(call).replace(&format!(".{}(", call.method), &format!(".{method}("));
            vec![(mutated, Expr::MethodCall(other))]
        }
        Expr::Path(path) if text(path) == "Pages::ZERO" => {
            vec![("Pages(1)".to_owned(), parse_quote!(Pages(1)))]
        }
        _ => Vec::new(),
    }
}

const fn is_assignment(op: &BinOp) -> bool {
    matches!(op, BinOp::AddAssign(_) | BinOp::SubAssign(_))
}

fn other_operators(op: &BinOp) -> Vec<BinOp> {
    let others: &[&str] = match op {
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<="],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) => &["+"],
        BinOp::AddAssign(_) => &["-="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::Mul(_) => &["/"],
        BinOp::Div(_) | BinOp::Rem(_) => &["*"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        _ => &[],
    };
    others.iter().map(|op| syn::parse_str(op).expect("an operator")).collect()
}

fn other_literals(literal: &Lit) -> Vec<(String, Expr)> {
    match literal {
        Lit::Bool(value) => {
            let other = !value.value;
            vec![(other.to_string(), parse_quote!(#other))]
        }
        Lit::Int(value) => {
            let number: u64 = value.base10_parse().expect("a number");
            let others = [Some(number + 1), number.checked_sub(1)];
            let others = others.into_iter().flatten();
            others
                .map(|other| {
                    let other = format!("{other}{}", value.suffix());
                    let syntax = syn::parse_str(&other).expect("a literal");
                    (other, syntax)
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn other_method(method: &str) -> Option<&'static str> {
    Some(match method {
        "min" => "max",
        "max" => "min",
        "any" => "all",
        "all" => "any",
        "is_some" => "is_none",
        "is_none" => "is_some",
        "is_some_and" => "is_none_or",
        "is_none_or" => "is_some_and",
        "is_ok" => "is_err",
        "is_err" => "is_ok",
        _ => return None,
    })
}
