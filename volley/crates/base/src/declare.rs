//! Macros that declare types, so that nothing of them is written twice.

/// Declares an enum, and `name`, which returns the text behind each variant.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* pub enum $enum:ident {
        $($(#[$doc:meta])* $variant:ident $(($field:ty))? = $name:literal,)*
    }) => {
        $(#[$meta])*
        pub enum $enum { $($(#[$doc])* $variant $(($field))?,)* }

        impl $enum {
            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant { .. } => $name,)* }
            }
        }
    };
}

/// Declares the same, without fields, with a list of all variants.
#[macro_export]
macro_rules! listed {
    ($(#[$meta:meta])* pub enum $enum:ident {
        $($(#[$doc:meta])* $variant:ident = $name:literal,)*
    }) => {
        $crate::named! { $(#[$meta])* pub enum $enum { $($(#[$doc])* $variant = $name,)* } }

        impl $enum {
            /// All of them, in order.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];
        }

        impl ::std::fmt::Display for $enum {
            fn fmt(&self, out: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                out.write_str(self.name())
            }
        }
    };
}

/// Declares a struct of counts, and how others are added to them.
#[macro_export]
macro_rules! sums {
    ($(#[$meta:meta])* pub struct $sums:ident {
        $($(#[$doc:meta])* pub $field:ident: u64,)*
    }) => {
        $(#[$meta])*
        pub struct $sums { $($(#[$doc])* pub $field: u64,)* }

        impl $sums {
            /// Adds others.
            pub fn add(&mut self, other: &Self) {
                self.each(other, |sum, count| *sum = sum.saturating_add(count));
            }

            /// Changes each count by the same of another one.
            pub fn each(&mut self, other: &Self, change: impl Fn(&mut u64, u64)) {
                $(change(&mut self.$field, other.$field);)*
            }
        }
    };
}

/// Declares a struct that is serialized, and `new`, which fills it: each field stands beside its value.
#[macro_export]
macro_rules! view {
    ($(#[$meta:meta])* $vis:vis struct $view:ident $(<$life:lifetime>)? ($($from:ident: $of:ty),*) {
        $($(#[$attribute:meta])* $field:ident: $type:ty = $value:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(::serde::Serialize)]
        $vis struct $view $(<$life>)? { $($(#[$attribute])* $field: $type,)* }

        impl $(<$life>)? $view $(<$life>)? {
            /// With all its values.
            $vis fn new($($from: $of),*) -> Self {
                Self { $($field: $value,)* }
            }
        }
    };
}

/// Declares a struct and its default: each field stands beside its value.
#[macro_export]
macro_rules! defaults {
    ($(#[$meta:meta])* $vis:vis struct $struct:ident {
        $($(#[$attribute:meta])* $of:vis $field:ident: $type:ty = $value:expr,)*
    }) => {
        $(#[$meta])*
        $vis struct $struct { $($(#[$attribute])* $of $field: $type,)* }

        impl ::std::default::Default for $struct {
            fn default() -> Self {
                Self { $($field: $value,)* }
            }
        }
    };
}

/// A list of words.
#[macro_export]
macro_rules! words {
    ($($word:ident)*) => { [$(stringify!($word)),*] };
}
