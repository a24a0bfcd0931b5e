// SPDX-License-Identifier: Apache-2.0

package verdicts_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

type item struct {
	corev1.Container `json:",inline"`
	Key              string `json:"key"`
	Hidden           string `json:"-"`
}

type spec struct {
	Template corev1.PodTemplateSpec `json:"template"`
	Items    []item                 `json:"items"`
	One      *item                  `json:"one"`
	Named    map[string]item        `json:"named"`
	Names    []string               `json:"names"`
}

func TestPaths(t *testing.T) {
	want := []string{"template", "items", "items[].Container", "items[].key", "one.Container", "one.key", "named", "named{}.Container", "named{}.key", "names"}
	got := verdicts.Paths(reflect.TypeFor[spec]())
	if diff := cmp.Diff(want, got); diff != "" || slices.Contains(got, "") {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}
