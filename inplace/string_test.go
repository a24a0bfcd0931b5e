// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
)

func TestUpdateString(t *testing.T) {
	for want, u := range map[string]inplace.Update{
		"update in place": {},
		"update in place to revision demo-2\n  container \"a\": image a:2\n  container \"b\": annotation y=2, annotation z=3, label x=1": {
			Revision: "demo-2", Images: map[string]string{"a": "a:2"},
			RefMetadata: map[string]metav1.ObjectMeta{"b": {Labels: map[string]string{"x": "1"}, Annotations: map[string]string{"z": "3", "y": "2"}}},
		},
		"update in place to revision demo-2\n  container \"a\": image a:2, label x=1\n  metadata without a restart: label team, annotation note, finalizers": {
			Revision: "demo-2", Images: map[string]string{"a": "a:2"},
			RefMetadata:   map[string]metav1.ObjectMeta{"a": {Labels: map[string]string{"x": "1"}}},
			MetadataPatch: []byte(`{"metadata":{"finalizers":["f"],"annotations":{"note":null},"labels":{"team":"blue"}}}`),
		},
	} {
		if got := u.String(); got != want {
			t.Errorf("want\n%s\ngot\n%s", want, got)
		}
	}
}
