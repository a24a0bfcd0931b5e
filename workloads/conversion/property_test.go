// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/internal/testing/appliers"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// field is something that an object may have, and what it may be.
type field struct {
	name  string
	value *rapid.Generator[any]
}

func oneOf(values ...any) *rapid.Generator[any] { return rapid.SampledFrom(values) }

func number[T any](g *rapid.Generator[T]) *rapid.Generator[any] {
	return rapid.Map(g, func(n T) any { return n })
}

// object draws an object that has some of the fields, and some that no version knows.
func object(fields ...field) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		out := map[string]any{}
		for _, f := range fields {
			if rapid.Bool().Draw(t, "has "+f.name) {
				out[f.name] = f.value.Draw(t, f.name)
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "unknown fields") {
			out["new"+rapid.StringMatching(`[A-Z<"é]{0,2}`).Draw(t, "name")] = anything.Draw(t, "value")
		}
		return out
	})
}

var (
	anything  = oneOf(nil, true, -7, 1.25, "", "a<b>&\u2028é", []any{}, []any{1, "x"}, map[string]any{}, map[string]any{"reserveOrdinals": []any{3}})
	amount    = oneOf(0, 1, 7, "10%", "few")
	count     = number(rapid.Int32())
	hook      = object(field{"markPodNotReady", oneOf(true, false)}, field{"finalizersHandler", oneOf([]string{}, []string{"a/b"})}, field{"labelsHandler", oneOf(map[string]string{"a": "b"})})
	retention = oneOf("Retain", "Delete", "")

	// The fields that both versions have, and those that v1beta1 alone has.
	commonSpec = []field{
		{"replicas", count}, {"serviceName", oneOf("", "web")},
		{"template", object(field{"spec", anything})}, {"updateStrategy", object(field{"type", oneOf("OnDelete")})},
	}
	commonStatus = []field{{"replicas", count}, {"conditions", oneOf([]any{})}}
	laterSpec    = []field{
		{"reserveOrdinals", number(rapid.SliceOf(rapid.Int()))},
		{"ordinals", object(field{"start", count})},
		{"volumeClaimUpdateStrategy", object(field{"type", oneOf("OnDelete", "OnPodRollingUpdate")})},
		{"lifecycle", object(field{"preDelete", hook}, field{"inPlaceUpdate", hook}, field{"preNormal", hook})},
		{"scaleStrategy", object(field{"maxUnavailable", amount})},
		{"persistentVolumeClaimRetentionPolicy", object(field{"whenDeleted", retention}, field{"whenScaled", retention})},
	}
	laterStatus = []field{{"updatedReadyReplicas", count}, {"updatedAvailableReplicas", count}, {"volumeClaims", oneOf([]any{}, []any{map[string]any{"volumeClaimName": "data", "compatibleReplicas": 1, "compatibleReadyReplicas": 0}})}}
)

// drawSet draws a StatefulSet as JSON.
func drawSet(t *rapid.T, version string, spec, status []field) []byte {
	metadata, _ := object().Draw(t, "metadata").(map[string]any)
	metadata["name"] = "web"
	if annotations := rapid.MapOf(rapid.StringMatching(`[a-z]{1,3}`), rapid.String()).Draw(t, "annotations"); len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	set, _ := object(field{"spec", object(spec...)}, field{"status", object(status...)}).Draw(t, "set").(map[string]any)
	set["apiVersion"], set["kind"], set["metadata"] = version, "StatefulSet", metadata
	data, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestThereAndBackLosesNothing(t *testing.T) {
	t.Run("from v1beta1", rapid.MakeCheck(func(t *rapid.T) {
		first := drawSet(t, beta, append(laterSpec, commonSpec...), append(laterStatus, commonStatus...))
		there := convert(t, first, alpha)
		back := convert(t, there, beta)
		if diff := cmp.Diff(tree(t, first), tree(t, back)); diff != "" {
			t.Fatalf("%s became %s (-want +got):\n%s", first, there, diff)
		}
	}))
	t.Run("from v1alpha1", rapid.MakeCheck(func(t *rapid.T) {
		first := drawSet(t, alpha, commonSpec, commonStatus)
		there := convert(t, first, beta)
		if bytes.Contains(there, []byte("v1beta1-fields")) {
			t.Fatalf("%s became %s, want no annotation", first, there)
		}
		if diff := cmp.Diff(tree(t, first), tree(t, convert(t, there, alpha))); diff != "" {
			t.Fatalf("%s became %s (-want +got):\n%s", first, there, diff)
		}
	}))
}

// A v1alpha1 client reads, changes what it knows and writes back, as structs:
// what it does not know must not suffer.
func TestReadModifyWriteInV1alpha1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := drawSet(t, beta, append(laterSpec, field{"replicas", count}), append(laterStatus, field{"replicas", count}))
		replicas := rapid.Int32().Draw(t, "new replicas")

		seen := &v1alpha1.StatefulSet{}
		decode(t, convert(t, stored, alpha), seen)
		seen.Spec.Replicas = &replicas
		written, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}

		want, got := &v1beta1.StatefulSet{}, &v1beta1.StatefulSet{}
		decode(t, stored, want)
		want.Spec.Replicas = &replicas
		decode(t, convert(t, written, beta), got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("v1beta1 after the write (-want +got):\n%s", diff)
		}
	})
}

func decode(t *rapid.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

// Whatever the bytes are: no panic, and what has been in both versions once goes
// there and back unchanged from then on.
func FuzzStatefulSet(f *testing.F) {
	for _, fields := range []string{
		`"spec":{}`, `"metadata":null,"spec":null`, `"metadata":{"annotations":{}},"status":{"updatedReadyReplicas":1}`,
		`"metadata":{"name":"web"},"spec":{"replicas":1e400,"reserveOrdinals":[1,2],"lifecycle":{"preDelete":{}},"new":"\ud800"}`,
		`"metadata":{"annotations":{"a":"b","podwright.github.io/v1beta1-fields":"{\"spec\":{\"reserveOrdinals\":[1]}}"}},"spec":{"lifecycle":null}`,
		`"metadata":{"annotations":` + kept(`{"spec":{"ordinals":{}}}`, `{"spec":{"ordinals":{"start":1}}}`, `{"spec":{"lifecycle":null}}`) + `}`,
	} {
		f.Add([]byte(set(alpha, fields)))
		f.Add([]byte(set(beta, fields)))
	}
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"kind":"StatefulSet","apiVersion":7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		inAlpha, inBeta := data, data
		for range 2 {
			var err error
			if inAlpha, err = conversion.StatefulSet(inBeta, alpha); err != nil {
				return
			}
			if inBeta, err = conversion.StatefulSet(inAlpha, beta); err != nil {
				return // what was kept is of a wrong type
			}
		}
		if again := convert(t, inBeta, alpha); !cmp.Equal(tree(t, inAlpha), tree(t, again)) {
			t.Errorf("%s gave in v1alpha1\n%s and then\n%s", data, inAlpha, again)
		}
		if again := convert(t, convert(t, inBeta, alpha), beta); !cmp.Equal(tree(t, inBeta), tree(t, again)) {
			t.Errorf("%s gave in v1beta1\n%s and then\n%s", data, inBeta, again)
		}
	})
}

// STS-V3: server-side apply in either version loses nothing, and takes away what it owned.
func TestServerSideApply(t *testing.T) {
	appliers.Kind{Name: "StatefulSet", Convert: conversion.StatefulSet, Fields: []appliers.Field{
		appliers.Both("spec.replicas", int64(3), int64(4)), appliers.Both("spec.updateStrategy.type", "OnDelete"),
		appliers.Beta("spec.reserveOrdinals", []any{int64(1)}, []any{int64(1), int64(2)}),
		appliers.Beta("spec.ordinals.start", int64(7), int64(8)), appliers.Beta("spec.scaleStrategy.maxUnavailable", int64(1), "50%"),
		appliers.Beta("spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "Retain", "Delete"),
		appliers.Beta("spec.persistentVolumeClaimRetentionPolicy.whenScaled", "Retain"),
		appliers.Beta("spec.lifecycle.preDelete.markPodNotReady", true, false), appliers.Beta("spec.lifecycle.inPlaceUpdate.markPodNotReady", true),
		appliers.Beta("spec.lifecycle.preDelete.labelsHandler.a", "b", "c"), appliers.Beta("spec.lifecycle.preDelete.labelsHandler.a/b", "b", "c"),
		appliers.Beta("spec.volumeClaimUpdateStrategy.type", "OnDelete", "OnPodRollingUpdate"),
		appliers.Beta("status.updatedReadyReplicas", int64(3), int64(4)), appliers.Beta("status.updatedAvailableReplicas", int64(3)),
	}}.Judge(t)
}
