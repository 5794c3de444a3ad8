//! Rewrites source so that one build holds every mutant: each place that can be wrong becomes a
//! choice at run time between what is written there and its alternatives.

#![expect(clippy::wildcard_enum_match_arm, reason = "syn's enums are open on purpose")]

use crate::alternatives::{alternatives, binds, binds_nothing, shorten, text};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, BinOp, Expr, ExprBinary, ExprMatch, Ident, Pat, Stmt, Token, Type, parse_quote,
};

/// One way in which the model could be wrong.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// What selects it in the build that holds all.
    pub(crate) id: usize,
    /// The file below the model's sources.
    pub(crate) file: String,
    /// The function or the constant.
    pub(crate) function: String,
    /// The line of the original.
    pub(crate) line: usize,
    /// What is written there and what the mutant has instead.
    pub(crate) change: String,
}

/// Functions that describe a state and decide nothing.
const DESCRIPTIONS: &[&str] = &["stack"];

/// One of a table of constants.
struct Constant {
    attrs: Vec<Attribute>,
    name: Ident,
    of: Type,
    value: Expr,
}

impl Parse for Constant {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (attrs, name) = (input.call(Attribute::parse_outer)?, input.parse()?);
        input.parse::<Token![:]>()?;
        let of = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self { attrs, name, of, value: input.parse()? })
    }
}

/// Rewrites files and numbers the mutants, from 1.
#[derive(Default)]
pub(crate) struct Schemata {
    pub(crate) mutants: Vec<Mutant>,
    file: String,
    function: String,
}

impl Schemata {
    /// The source of a file with a choice at every place that can be wrong.
    pub(crate) fn rewrite(&mut self, file: &str, source: &str) -> String {
        let mut syntax = syn::parse_file(source).expect("the model's sources parse");
        file.clone_into(&mut self.file);
        self.visit_file_mut(&mut syntax);
        syntax.into_token_stream().to_string()
    }

    /// The same for a table of constants, `name: type = value` inside a macro.
    pub(crate) fn rewrite_constants(&mut self, file: &str, source: &str) -> String {
        let mut syntax = syn::parse_file(source).expect("the model's sources parse");
        file.clone_into(&mut self.file);
        for item in &mut syntax.items {
            if let syn::Item::Macro(table) = item
                && table.mac.path.is_ident("constants")
            {
                table.mac.tokens = self.constants(table.mac.tokens.clone());
            }
        }
        syntax.into_token_stream().to_string()
    }

    fn constants(&mut self, tokens: TokenStream) -> TokenStream {
        let table = Punctuated::<Constant, Token![,]>::parse_terminated.parse2(tokens);
        let rewrite = |Constant { attrs, name, of, mut value }: Constant| {
            self.function = name.to_string();
            self.visit_expr_mut(&mut value);
            quote!(#(#attrs)* #name: #of = #value,)
        };
        table.expect("a table of constants").into_iter().map(rewrite).collect()
    }

    /// Numbers a mutant. What tells it from others of the same change is counted, not its line,
    /// so that its name outlives edits elsewhere.
    fn mutant(&mut self, original: &impl Spanned, mutated: &str) -> usize {
        let change = format!("`{}` -> `{}`", shorten(&text(original)), shorten(mutated));
        let same = |mutant: &&Mutant| {
            mutant.file == self.file
                && mutant.function == self.function
                && mutant.change.split(" #").next() == Some(change.as_str())
        };
        let before = self.mutants.iter().filter(same).count();
        let change = if before == 0 { change } else { format!("{change} #{}", before + 1) };
        let id = self.mutants.len() + 1;
        self.mutants.push(Mutant {
            id,
            file: self.file.clone(),
            function: self.function.clone(),
            line: original.span().start().line,
            change,
        });
        id
    }

    /// Puts the mutants into a function. A choice at run time can't be made in a `const fn`, nor a
    /// function called there that holds one.
    fn function(&mut self, signature: &mut syn::Signature, block: &mut syn::Block) {
        self.function = signature.ident.to_string();
        let before = self.mutants.len();
        if !DESCRIPTIONS.contains(&self.function.as_str()) {
            self.visit_block_mut(block);
        }
        let mut calls = Calls(false);
        calls.visit_block_mut(block);
        if calls.0 || self.mutants.len() > before {
            signature.constness = None;
        }
    }

    /// Makes an expression a choice between itself and its alternatives.
    fn choice(&mut self, original: &Expr, expr: &mut Expr, alternatives: Vec<(String, Expr)>) {
        for (mutated, alternative) in alternatives {
            let id = self.mutant(original, &mutated);
            *expr = parse_quote!((if crate::mutant::is(#id) { #alternative } else { #expr }));
        }
    }

    /// Forces a condition; one that binds names can only be forced to fail.
    fn force(&mut self, condition: &mut Expr, to: &[bool]) {
        let original = condition.clone();
        if binds(&original) {
            self.visit_chain(condition);
            let id = self.mutant(&original, "false");
            *condition = parse_quote!(!crate::mutant::is(#id) && #condition);
            return;
        }
        self.visit_expr_mut(condition);
        let forced = to.iter().map(|to| (to.to_string(), parse_quote!(#to))).collect();
        self.choice(&original, condition, forced);
    }

    /// Visits the parts of a chain of `&&` that binds names, whose joints can't be rewritten.
    fn visit_chain(&mut self, condition: &mut Expr) {
        match condition {
            Expr::Let(binding) => self.visit_expr_mut(&mut binding.expr),
            Expr::Binary(ExprBinary { left, op: BinOp::And(_), right, .. }) => {
                self.visit_chain(left);
                self.visit_chain(right);
            }
            other => self.visit_expr_mut(other),
        }
    }

    /// Has an arm that binds nothing do what the next such arm does.
    fn exchange_arms(&mut self, matching: &mut ExprMatch, original: &ExprMatch) {
        let free: Vec<usize> =
            (0..original.arms.len()).filter(|at| binds_nothing(&original.arms[*at].pat)).collect();
        for (at, arm) in free.iter().enumerate() {
            let other = free[(at + 1) % free.len()];
            let (mine, other) = (&original.arms[*arm], &original.arms[other]);
            if mine.body == other.body {
                continue;
            }
            let pattern = text(&mine.pat);
            let mutated = format!("{pattern} => {}", text(&other.body));
            let id = self.mutant(&ArmText(mine), &mutated);
            let (body, instead) = (&matching.arms[*arm].body, &other.body);
            matching.arms[*arm].body =
                parse_quote!((if crate::mutant::is(#id) { #instead } else { #body }));
            matching.arms[*arm].comma = Some(syn::token::Comma::default());
        }
    }
}

impl VisitMut for Schemata {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let original = expr.clone();
        match expr {
            Expr::If(branch) => {
                self.force(&mut branch.cond, &[true, false]);
                self.visit_block_mut(&mut branch.then_branch);
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    visit_mut::visit_expr_mut(self, otherwise);
                }
            }
            Expr::While(repeat) => {
                self.force(&mut repeat.cond, &[false]);
                self.visit_block_mut(&mut repeat.body);
            }
            Expr::Match(matching) => {
                let Expr::Match(original) = &original else { unreachable!("its own copy") };
                visit_mut::visit_expr_match_mut(self, matching);
                self.exchange_arms(matching, original);
            }
            Expr::Repeat(array) => self.visit_expr_mut(&mut array.expr),
            _ => {
                visit_mut::visit_expr_mut(self, expr);
                self.choice(&original, expr, alternatives(&original));
            }
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        if let Pat::Guard(pattern) = &mut arm.pat {
            self.force(&mut pattern.guard, &[true, false]);
        }
        self.visit_expr_mut(&mut arm.body);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        let original = stmt.clone();
        visit_mut::visit_stmt_mut(self, stmt);
        if let Stmt::Expr(effect, Some(_)) = &original
            && matches!(effect, Expr::Assign(_) | Expr::Call(_) | Expr::MethodCall(_))
        {
            let id = self.mutant(&original, "");
            *stmt = parse_quote!(if !crate::mutant::is(#id) { #stmt });
        }
    }

    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        self.function(&mut item.sig, &mut item.block);
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut syn::ImplItemFn) {
        self.function(&mut item.sig, &mut item.block);
    }

    // What is evaluated by the compiler, and patterns, can't hold a choice.
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
    fn visit_item_const_mut(&mut self, _: &mut syn::ItemConst) {}
    fn visit_impl_item_const_mut(&mut self, _: &mut syn::ImplItemConst) {}
    fn visit_item_enum_mut(&mut self, _: &mut syn::ItemEnum) {}
    fn visit_item_mod_mut(&mut self, _: &mut syn::ItemMod) {}
}

/// Whether something is called.
struct Calls(bool);

impl VisitMut for Calls {
    fn visit_expr_call_mut(&mut self, _: &mut syn::ExprCall) {
        self.0 = true;
    }

    fn visit_expr_method_call_mut(&mut self, _: &mut syn::ExprMethodCall) {
        self.0 = true;
    }
}

/// An arm, located by its pattern and described by all of it.
struct ArmText<'a>(&'a Arm);

impl ToTokens for ArmText<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Arm { pat, body, .. } = self.0;
        tokens.extend(quote!(#pat => #body));
    }
}

#[cfg(test)]
mod tests;
