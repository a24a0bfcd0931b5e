// Package upstream holds no code, only tests: that a manifest of Kubernetes' own StatefulSet, with nothing changed but its
// apiVersion, behaves here as it does there.
//
// What Kubernetes documents about StatefulSets is a table of guarantees (the files guarantees_*_test.go): each says what is
// promised, with which manifest, and plays it. Every one is played twice at the same time on one real control plane, in two
// namespaces: for the StatefulSet of apps/v1, which the controller manager of Kubernetes runs, and for that of
// apps.kruise.io/v1beta1, which ours runs. Both must keep the promise, as the history of their pods tells, and at every
// point where a play has settled, the status, pods, claims and revisions of both must be the same in every field, but
// for the differences that differences_test.go lists with their reasons.
package upstream
