//! TLS: which servers volley trusts, and that the counts are the same.

use std::path::PathBuf;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd,
};
use volley::serve::{Config, Faults, Identity, Reference};

use crate::common::shape::{ALL, SERVER_STREAM, Shape, UNARY};
use crate::common::{Finished, Scratch, Volley, faulty, has, one, settled};

/// A server whose certificate is for `name`; only clients that are told to trust it.
struct Secure {
    server: Reference,
    cert: PathBuf,
    _scratch: Scratch,
}

fn secure(name: &str, faults: Faults) -> Secure {
    secured_by(&CertificateParams::new([name.to_owned()]).unwrap(), faults)
}

fn secured_by(params: &CertificateParams, faults: Faults) -> Secure {
    let config = Config {
        faults,
        ..Config::default()
    };
    secured(params, config)
}

/// A server that offers only these protocols.
fn secure_for(alpn: &[&str]) -> Secure {
    let config = Config {
        alpn: alpn.iter().map(ToString::to_string).collect(),
        ..Config::default()
    };
    secured(
        &CertificateParams::new(["127.0.0.1".to_owned()]).unwrap(),
        config,
    )
}

fn secured(params: &CertificateParams, config: Config) -> Secure {
    issued(|keys| params.self_signed(keys).unwrap(), config)
}

/// A server with the certificate that is made for its keys.
fn issued(certificate: impl FnOnce(&KeyPair) -> Certificate, config: Config) -> Secure {
    let scratch = Scratch::new();
    let keys = KeyPair::generate().unwrap();
    let certificate = certificate(&keys);
    let cert = scratch.write("cert.pem", &certificate.pem());
    let key = scratch.write("key.pem", &keys.serialize_pem());
    let server = Reference::start(Config {
        tls: Some(Identity {
            cert: cert.clone(),
            key,
        }),
        ..config
    })
    .unwrap();
    Secure {
        server,
        cert,
        _scratch: scratch,
    }
}

fn checked(shape: Shape) -> Volley {
    Volley::secure(shape.method)
        .data(shape.data)
        .expect(shape.rule)
        .flags(&format!("--expect-replies {}", shape.replies))
}

/// A run that cannot start.
fn attempt(secure: &Secure, volley: Volley) -> Finished {
    volley
        .flags("-n 4 -c 2 --connections 2 --threads 2")
        .run(secure.server.address())
}

#[test]
fn a_sweep_of_blasts_under_tls_equals_the_servers_own_counts() {
    let secure = secure("127.0.0.1", Faults::default());
    let finished = Volley::blast(UNARY.method)
        .data(UNARY.data)
        .expect(UNARY.rule)
        .flags("--requests 1,50,200 --connections 1,4 --repetitions 2 --threads 2 --cacert")
        .arg(&secure.cert)
        .run(secure.server.address());
    let report = finished.report();
    let points = report.json["points"].as_array().unwrap().iter();
    let ok: u64 = points.map(|point| point["ok"].as_u64().unwrap()).sum();
    assert_eq!((report.exit, ok), (0, 2 * 2 * 251));
    assert_eq!(settled(&secure.server).calls_ok, ok);
}

#[test]
fn calls_under_tls_equal_the_servers_own_counts() {
    let secure = secure("127.0.0.1", Faults::default());
    for shape in ALL {
        let before = secure.server.counts();
        let report = checked(shape)
            .arg("--cacert")
            .arg(&secure.cert)
            .flags("-n 100 -c 12 --connections 4 --threads 2")
            .report(secure.server.address());
        assert_eq!(report.all_ok(), 100, "{shape:?}");
        let counts = settled(&secure.server);
        assert_eq!(counts.calls_ok - before.calls_ok, 100, "{shape:?}");
        assert_eq!(
            counts.messages_sent - before.messages_sent,
            report.messages()
        );
    }
}

#[test]
fn any_certificate_will_do_with_skip_tls() {
    let secure = secure("elsewhere.test", Faults::default());
    let finished = attempt(&secure, checked(UNARY).flags("--skipTLS"));
    assert_eq!(finished.report().all_ok(), 4);
}

#[test]
fn an_old_certificate_will_do_with_skip_tls() {
    let file =
        |name: &str| PathBuf::from(format!("crates/net/tests/certificates/version-1.{name}"));
    let server = Reference::start(Config {
        tls: Some(Identity {
            cert: file("pem"),
            key: file("key"),
        }),
        ..Config::default()
    })
    .unwrap();
    let run = |flags: &str| {
        let volley = checked(UNARY)
            .flags("-n 4 -c 1 --connections 1")
            .flags(flags);
        volley.run(&server)
    };
    assert_eq!(run("--skipTLS").report().all_ok(), 4);
    let refused = run("--cacert crates/net/tests/certificates/authority.pem");
    let words = "TLS: the server's certificate is of X.509 version 1, which volley cannot check: give it another, or \
                 accept any certificate with `--skipTLS`";
    assert!(refused.error().ends_with(words), "{refused:?}");
}

#[test]
fn an_authority_that_a_trusted_one_has_signed_serves() {
    let root_keys = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = Issuer::from_params(&params, &root_keys);
    let secure = issued(
        |keys| {
            let mut own = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
            own.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
            own.signed_by(keys, &issuer).unwrap()
        },
        Config::default(),
    );
    let scratch = Scratch::new();
    let root = params.self_signed(&root_keys).unwrap().pem();
    let root = scratch.write("root.pem", &root);
    let trusting = || checked(UNARY).arg("--cacert").arg(&root);
    assert_eq!(attempt(&secure, trusting()).report().all_ok(), 4);
    let elsewhere = attempt(&secure, trusting().flags("--cname elsewhere.test"));
    elsewhere.failed_with("is for another name");
    // Nobody has signed that one.
    has(attempt(&secure, checked(UNARY)).error(), "UnknownIssuer");
}

#[test]
fn a_certificate_nobody_vouches_for_is_refused() {
    let secure = secure("127.0.0.1", Faults::default());
    let finished = attempt(&secure, checked(UNARY));
    let error = finished.error();
    let words = "nobody who is trusted here has signed the server's certificate: name its authority with `--cacert`, or \
                 accept any certificate with `--skipTLS` (invalid peer certificate: UnknownIssuer)";
    assert!(error.ends_with(words), "{error}");
    assert_eq!(secure.server.counts().calls_started, 0);
}

#[test]
fn whoever_names_another_authority_is_told_so() {
    let secure = secure("127.0.0.1", Faults::default());
    let scratch = Scratch::new();
    // One has another name than the server's issuer, and one the same.
    for (number, name) in ["127.0.0.1", "elsewhere.test"].iter().enumerate() {
        let keys = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([(*name).to_owned()]).unwrap();
        if number == 0 {
            params.distinguished_name = rcgen::DistinguishedName::new();
        }
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let other = params.self_signed(&keys).unwrap();
        let other = scratch.write(&format!("{number}.pem"), &other.pem());
        let finished = attempt(&secure, checked(UNARY).arg("--cacert").arg(&other));
        let error = finished.error();
        let words = "TLS: none of the certificates in `--cacert` has signed the server's certificate: name its authority \
                     there, or accept any certificate with `--skipTLS` (invalid peer certificate: ";
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_certificate_for_another_name_is_refused_unless_that_name_is_asked_for() {
    let secure = secure("elsewhere.test", Faults::default());
    let trusting = || checked(UNARY).arg("--cacert").arg(&secure.cert);
    let finished = attempt(&secure, trusting());
    let words =
        "TLS: the server's certificate is for another name: give one that it has with `--cname` (";
    finished.failed_with(words);
    let finished = attempt(&secure, trusting().flags("--cname elsewhere.test"));
    assert_eq!(finished.report().all_ok(), 4);
}

#[test]
fn a_self_signed_certificate_that_calls_itself_an_authority_is_trusted_by_name() {
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let secure = secured_by(&params, Faults::default());
    let trusting = || checked(UNARY).arg("--cacert").arg(&secure.cert);
    assert_eq!(attempt(&secure, trusting()).report().all_ok(), 4);
    let finished = attempt(&secure, trusting().flags("--cname elsewhere.test"));
    finished.failed_with("TLS: ");
}

#[test]
fn a_certificate_that_is_trusted_by_name_is_not_trusted_beyond_its_dates() {
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.not_after = date_time_ymd(2020, 1, 1);
        let secure = secured_by(&params, Faults::default());
        let finished = attempt(&secure, checked(UNARY).arg("--cacert").arg(&secure.cert));
        finished.failed_with("certificate has expired: renew it");
    }
}

#[test]
fn only_an_authority_vouches_for_other_certificates() {
    let root_keys = KeyPair::generate().unwrap();
    for (is_ca, year, is_trusted) in [
        (IsCa::Ca(BasicConstraints::Unconstrained), 4096, true),
        (IsCa::Ca(BasicConstraints::Unconstrained), 2020, false),
        (IsCa::ExplicitNoCa, 4096, false),
        (IsCa::NoCa, 4096, false),
    ] {
        let mut params = CertificateParams::new(["elsewhere.test".to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.not_after = date_time_ymd(year, 1, 1);
        let issuer = Issuer::from_params(&params, &root_keys);
        let secure = issued(
            |keys| {
                let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
                params.signed_by(keys, &issuer).unwrap()
            },
            Config::default(),
        );
        let root = params.self_signed(&root_keys).unwrap();
        let scratch = Scratch::new();
        let root = scratch.write("root.pem", &root.pem());
        let finished = attempt(&secure, checked(UNARY).arg("--cacert").arg(&root));
        if is_trusted {
            assert_eq!(finished.report().all_ok(), 4);
        } else {
            finished.failed_with("UnknownIssuer");
        }
        // Named itself, it needs no issuer.
        let finished = attempt(&secure, checked(UNARY).arg("--cacert").arg(&secure.cert));
        assert_eq!(finished.report().all_ok(), 4);
    }
}

#[test]
fn a_ca_file_that_is_none_is_a_usage_error() {
    let secure = secure("127.0.0.1", Faults::default());
    let finished = attempt(&secure, checked(UNARY).flags("--cacert /nowhere/ca.pem"));
    assert_eq!(finished.code(), 2, "{finished:?}");
    finished.said("/nowhere/ca.pem");
}

#[test]
fn clear_text_to_a_tls_port_says_which_flag_to_leave_out() {
    let secure = secure("127.0.0.1", Faults::default());
    let finished = attempt(&secure, UNARY.checked("--connect-timeout 10m"));
    finished.failed_with("drop `--insecure`");
}

#[test]
fn a_connection_cut_under_tls_fails_its_calls_and_is_opened_again() {
    let secure = secure("127.0.0.1", faulty(|faults| faults.close_every = one(10)));
    let report = checked(SERVER_STREAM)
        .flags("--skipTLS -n 100 -c 4 --connections 2 --threads 2")
        .report(secure.server.address());
    assert_eq!(report.ok() + report.failed_total(), 100);
    assert!(
        (10..=20).contains(&report.failed_total()),
        "{:?}",
        report.failed()
    );
    assert_eq!(report.ok(), settled(&secure.server).calls_ok);
    assert!(report.number("/reconnects") > 0);
}

#[test]
fn a_server_without_alpn_is_called_with_a_warning() {
    let without = secure_for(&[]);
    let report = attempt(&without, checked(UNARY).flags("--skipTLS")).report();
    assert_eq!(report.all_ok(), 4);
    report.warned_of("it has no ALPN");
    let with = secure_for(&["http/1.1", "h2"]);
    let report = attempt(&with, checked(UNARY).flags("--skipTLS")).report();
    assert_eq!((report.all_ok(), report.warnings().len()), (4, 0));
}

#[test]
fn a_server_that_offers_other_protocols_is_refused() {
    let other = secure_for(&["http/1.1"]);
    let finished = attempt(&other, checked(UNARY).flags("--skipTLS"));
    let line = "does not offer HTTP/2 (ALPN h2)";
    assert!(finished.error().ends_with(line), "{finished:?}");
}
