// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/testing/appliers"
	"github.com/podwright/podwright/workloads/conversion"
)

// ofKind is an object of a kind in a version, with the given further fields.
func ofKind(kind, version, fields string) string {
	return `{"apiVersion":"` + version + `","kind":"` + kind + `",` + fields + `}`
}

// byKind are the conversions of kinds that are stored in either version.
var byKind = map[string]func([]byte, string) ([]byte, error){
	"DaemonSet": conversion.DaemonSet, "BroadcastJob": conversion.BroadcastJob, "AdvancedCronJob": conversion.AdvancedCronJob,
}

// inVersion converts an object that has to be converted.
func inVersion(t failer, kind, from, fields, to string) string {
	t.Helper()
	out, err := byKind[kind]([]byte(ofKind(kind, from, fields)), to)
	if err != nil {
		t.Fatalf("converting %s of %s to %s: %v", fields, from, to, err)
	}
	return string(out)
}

// partition is a spec with a partition, as JSON.
func partition(value string) string {
	return `"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1,"partition":` + value + `}}}`
}

func TestKindsStoredInEitherVersion(t *testing.T) {
	const name = `"metadata":{"name":"web"},`
	for _, test := range []struct{ name, kind, beta, alpha string }{
		{"DS-V3: nothing to keep", "DaemonSet", name + partition("3"), name + partition("3")},
		{"DS-V3: nothing but a name", "DaemonSet", `"metadata":{"name":"web"}`, `"metadata":{"name":"web"}`},
		{"DS-V3: null sections", "DaemonSet", `"metadata":{"name":"web"},"spec":null,"status":null`, `"metadata":{"name":"web"},"spec":null,"status":null`},
		{"DS-V3: a null partition", "DaemonSet", name + partition("null"), name + partition("null")},
		{"DS-V3: a percentage, which both versions have", "DaemonSet", name + partition(`"30%"`), name + partition(`"30%"`)},
		{"DS-V3: the revision", "DaemonSet", name + `"status":{"updateRevision":"abc","numberReady":3}`, name + `"status":{"daemonSetHash":"abc","numberReady":3}`},
		{"DS-V3: how pods are created", "DaemonSet", name + `"spec":{"scaleStrategy":{"partitionedScaling":true,"new":1}}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"scaleStrategy":{}}}`, `{"spec":{"scaleStrategy":{"partitionedScaling":true}}}`, `{"spec":{"scaleStrategy":{"new":1}}}`) + `},"spec":{}`},
		{"DS-V3: all of it", "DaemonSet",
			`"metadata":{"name":"web","annotations":{"a":"b"}},"new":1,"spec":{"scaleStrategy":{},"updateStrategy":{"rollingUpdate":{"partition":"0%","new":2.50}}},"status":{"updateRevision":""}`,
			`"metadata":{"name":"web","annotations":{"a":"b",` + kept(`{"spec":{"scaleStrategy":{}}}`)[1:] +
				`},"new":1,"spec":{"updateStrategy":{"rollingUpdate":{"partition":"0%","new":2.50}}},"status":{"daemonSetHash":""}`},
		{"BJ-V3: nothing", "BroadcastJob", name + `"spec":{"parallelism":"10%","new":1},"status":{"desired":3}`, name + `"spec":{"parallelism":"10%","new":1},"status":{"desired":3}`},
		{"ACJ-16: nothing to keep", "AdvancedCronJob", name + `"spec":{"template":{"jobTemplate":{}}}`, name + `"spec":{"template":{"jobTemplate":{}}}`},
		{"ACJ-16: images", "AdvancedCronJob", name + `"spec":{"template":{"imageListPullJobTemplate":{"spec":{"images":["a"]}}}}`,
			name + `"spec":{"template":{"imageListPullJobTemplate":{"spec":{"images":["a"]}}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			stored := inVersion(t, test.kind, beta, test.beta, alpha)
			if diff := cmp.Diff(tree(t, []byte(ofKind(test.kind, alpha, test.alpha))), tree(t, []byte(stored))); diff != "" {
				t.Errorf("v1alpha1 (-want +got):\n%s", diff)
			}
			read := inVersion(t, test.kind, alpha, test.alpha, beta)
			if diff := cmp.Diff(tree(t, []byte(ofKind(test.kind, beta, test.beta))), tree(t, []byte(read))); diff != "" {
				t.Errorf("v1beta1 (-want +got):\n%s", diff)
			}
			for _, version := range []string{alpha, beta} {
				if same := inVersion(t, test.kind, version, test.beta, version); same != ofKind(test.kind, version, test.beta) {
					t.Errorf("in its own version it became %s", same)
				}
			}
		})
	}
}

// Users of v1alpha1 change what they see, or the annotation.
func TestEditsInV1alpha1(t *testing.T) {
	const name, noJSON = `"metadata":{"name":"web"},`, `"metadata":{"name":"web","annotations":{"a":"b","podwright.github.io/v1beta1-fields":"{"}},`
	for _, test := range []struct{ name, kind, alpha, want string }{
		{"DS-V3: what stands where it belongs counts", "DaemonSet",
			`"metadata":{"name":"web","annotations":` + former(`{"spec":{"scaleStrategy":{"a":1}}}`) + `},"spec":{"scaleStrategy":{"b":2}}`, name + `"spec":{"scaleStrategy":{"b":2}}`},
		{"DS-V3: what cannot be read stays, and the object is read", "DaemonSet", noJSON + partition("3"), noJSON + partition("3")},
		{"DS-V3: so does what is of another type", "DaemonSet",
			`"metadata":{"name":"web","annotations":` + former(`{"spec":{"scaleStrategy":3}}`) + `}`, `"metadata":{"name":"web","annotations":` + former(`{"spec":{"scaleStrategy":3}}`) + `}`},
		{"DS-V3: so does what has no place there", "DaemonSet",
			`"metadata":{"name":"web","annotations":` + former(`{"spec":{"selector":{"a":1}}}`) + `}`, `"metadata":{"name":"web","annotations":` + former(`{"spec":{"selector":{"a":1}}}`) + `}`},
		{"DS-V3: so does what v1alpha1 has by another name", "DaemonSet",
			`"metadata":{"name":"web","annotations":` + former(`{"status":{"updateRevision":"a"}}`) + `}`, `"metadata":{"name":"web","annotations":` + former(`{"status":{"updateRevision":"a"}}`) + `}`},
		{"DS-V3: what cannot be read of one part stays, and the others are read", "DaemonSet",
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"scaleStrategy":{"partitionedScaling":7}}}`, `{"spec":{"scaleStrategy":{"new":1}}}`) + `}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"scaleStrategy":{"partitionedScaling":7}}}`) + `},"spec":{"scaleStrategy":{"new":1}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := ofKind(test.kind, beta, test.want)
			if diff := cmp.Diff(tree(t, []byte(want)), tree(t, []byte(inVersion(t, test.kind, alpha, test.alpha, beta)))); diff != "" {
				t.Errorf("v1beta1 (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKindsErrors(t *testing.T) {
	for _, test := range []struct{ name, object, to, want string }{
		{"another kind", ofKind("CloneSet", alpha, `"spec":{}`), beta, `kind: want DaemonSet, got "CloneSet"`},
		{"an unknown version", ofKind("DaemonSet", "apps/v1", `"spec":{}`), beta, `apiVersion: a DaemonSet has apps.kruise.io/v1alpha1 and apps.kruise.io/v1beta1, got "apps/v1"`},
		{"a part that is no object", ofKind("DaemonSet", beta, `"spec":7`), alpha, "spec: want an object, got a number"},
		{"a strategy that could not come back", ofKind("DaemonSet", beta, `"spec":{"scaleStrategy":7}`), alpha, "spec.scaleStrategy: json: cannot unmarshal number"},
		{"a status that is no object", ofKind("DaemonSet", alpha, `"status":"x"`), beta, "status: want an object, got a string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := conversion.DaemonSet([]byte(test.object), test.to); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %s, error %v, want %q", got, err, test.want)
			}
		})
	}
}

// DS-V3: server-side apply in either version loses nothing, and takes away what it owned.
func TestServerSideApplyOfDaemonSets(t *testing.T) {
	appliers.Kind{Name: "DaemonSet", Convert: conversion.DaemonSet, Fields: []appliers.Field{
		appliers.Beta("spec.scaleStrategy.partitionedScaling", true, false), appliers.Beta("spec.scaleStrategy.new", int64(1)),
		appliers.Twins([]string{"status", "daemonSetHash"}, []string{"status", "updateRevision"}, "a", "b"),
		appliers.Both("spec.minReadySeconds", int64(3), int64(4)), appliers.Both("spec.updateStrategy.rollingUpdate.partition", int64(3), "50%"),
	}}.Judge(t)
}
