// SPDX-License-Identifier: Apache-2.0

package images

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// IMG-1.6: the name of a copy says of which namespace it is, to one who knows that.
func TestCopyName(t *testing.T) {
	bank := types.NamespacedName{Namespace: "bank", Name: "registry.example"}
	name, ok := CopyName(bank)
	if !ok || len(validation.IsDNS1123Subdomain(name)) > 0 || !strings.HasPrefix(name, "registry.example-") {
		t.Errorf("name %q, %t", name, ok)
	}
	if source, ok := SourceName(name, "bank"); !ok || source != bank.Name {
		t.Errorf("source %q, %t", source, ok)
	}
	for _, other := range []string{"evil", "", "bank/registry.example"} {
		if _, ok := SourceName(name, other); ok {
			t.Errorf("the copy is taken to be of namespace %q", other)
		}
	}
	for _, short := range []string{"", "registry", name[len(name)-copyHash:]} {
		if _, ok := SourceName(short, "bank"); ok {
			t.Errorf("%q is taken for a copy", short)
		}
	}
	if _, ok := CopyName(types.NamespacedName{Namespace: "bank", Name: strings.Repeat("x", 233)}); ok {
		t.Error("a name that is too long")
	}
}

func TestCopySource(t *testing.T) {
	for value, want := range map[string]bool{"bank/registry": true, "bank": false, "/registry": false, "bank/": false, "a/b/c": false, "": false} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.PullSecretSourceAnnotation: value}}}
		if source, ok := CopySource(secret); ok != want || ok && source.String() != value {
			t.Errorf("%q: %v, %t", value, source, ok)
		}
	}
}
