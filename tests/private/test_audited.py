"""Every private estimator is audited, too, in the table of the book: by runs, as its users run it."""

from cases import cases

import dpfair_lib as dpf
from dpfair_lib.central.preparation import ScalingConstants, private_constants
from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import no_regret_dynamics
from dpfair_lib.compatibility.subgroup_fairness.no_regret import noisy_counts
from dpfair_lib.experiments.fair_learners.audited_fair import FAIR
from dpfair_lib.experiments.fair_learners.audited_network import NETWORKS
from dpfair_lib.experiments.ours.audited_joint import JOINT
from dpfair_lib.experiments.ours.privacy_audits import MODELS, RELEASES
from dpfair_lib.local.files import randomize_file
from dpfair_lib.local.frames import randomize_frame
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.reported_columns import drawing
from dpfair_lib.local.response import GeneralizedRandomizedResponse
from dpfair_lib.local.subsets import SubsetSelection
from dpfair_lib.margins.private_certificate import PrivateCertificate
from dpfair_lib.svm.perturbation import noisy_support_vectors

AUDITED = {
    dpf.PrivateFairPostprocessor: ("noisy rates", "true positive rates"),
    dpf.EqualizedOddsPostprocessor: ("noisy odds",),
    dpf.PrivateFairClassifier: ("model and post-processing",),
    dpf.private_certificate: ("certificate",),
    PrivateCertificate: ("certificate",),
    private_constants: ("constants for scaling",),
    ScalingConstants: ("constants for scaling",),
    dpf.OutputPerturbation: ("output perturbation",),
    dpf.ObjectivePerturbation: ("objective perturbation",),
    dpf.ExponentialFairLearner: ("exponential learner",),
    dpf.PrivateNoRegretFair: ("no-regret learner",),
    dpf.DPLogisticRegression: ("descent", "secure descent"),
    dpf.DPNetworkClassifier: ("network",),
    dpf.PrivateScaler: ("scaler",),
    dpf.PrivateImputer: ("frequent category",),
    dpf.PrivatePipeline: ("pipeline",),
    dpf.PrivateSelection: ("choice among models",),
    GeneralizedRandomizedResponse: ("randomised response",),
    SubsetSelection: ("subset selection",),
    Randomizer: ("a channel",),
    dpf.SupportVectorPerturbation: ("support vectors",),
    dpf.DPFermiClassifier: ("DP-FERMI",),
    dpf.FairFunctionalClassifier: ("functional mechanism",),
    dpf.DPGlobalScalingClassifier: ("global scaling",),
    dpf.DPGroupClippingClassifier: ("group clipping",),
    dpf.DPLagrangianClassifier: ("Lagrangian",),
    dpf.PrivateExponentiatedGradient: ("exponentiated gradient",),
}
"""What is private → how the names of its audits begin."""

NOT_AUDITED = {
    dpf.DPLinearSVM: "the steps of DPLogisticRegression, with the gradients of another loss",
    noisy_support_vectors: "what SupportVectorPerturbation calls",
    noisy_counts: "what PrivateNoRegretFair calls",
    no_regret_dynamics: "what PrivateNoRegretFair calls",
    randomize_frame: "draws from a channel",
    randomize_file: "draws from a channel",
    drawing: "draws from a channel",
}


def test_every_private_release_is_audited_or_said_to_be_none():
    listed = {covered for case in cases() for covered in case.covers if case.relation is not None}
    assert listed - {*AUDITED, *NOT_AUDITED} == set()
    assert {*AUDITED, *NOT_AUDITED} - listed == set()
    assert not {*AUDITED} & {*NOT_AUDITED}


def test_every_audit_is_of_one_of_them():
    begun = {
        name: [one for starts in AUDITED.values() for one in starts if name.startswith(one)]
        for name in (*RELEASES, *MODELS, *JOINT, *FAIR, *NETWORKS)
    }
    assert all(begun.values()), begun
    assert {start for starts in AUDITED.values() for start in starts} == {
        one for ones in begun.values() for one in ones
    }
