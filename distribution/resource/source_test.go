// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/readers"
)

// shellYAML is a resource without content, which a source has.
const shellYAML = `{apiVersion: v1, kind: Secret, metadata: {name: pull, labels: {team: a}}}`

// newSourced is a ResourceDistribution of the Secret registry in the namespace base.
func newSourced(t testing.TB, resource string) *v1alpha1.ResourceDistribution {
	t.Helper()
	d := newDistribution(t, resource, all)
	d.Spec.SourceRef = &v1alpha1.ResourceDistributionSource{Namespace: "base", Name: "registry"}
	return d
}

// sourceOf is a Secret that may be distributed.
func sourceOf(value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "base", Name: "registry", Labels: map[string]string{v1alpha1.ResourceSourceLabel: ""}},
		Type: "example.com/key", Data: map[string][]byte{"key": []byte(value)}}
}

// What is asked, and when. (RD-18)
func TestReviewSource(t *testing.T) {
	user := authenticationv1.UserInfo{Username: "jane", UID: "7", Groups: []string{"devs"}, Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a"}}}
	d := newSourced(t, shellYAML)
	want := authorizationv1.SubjectAccessReviewSpec{User: "jane", UID: "7", Groups: []string{"devs"}, Extra: map[string]authorizationv1.ExtraValue{"scopes": {"a"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Version: "v1", Resource: "secrets", Namespace: "base", Name: "registry"}}
	if diff := cmp.Diff(want, reviewSource(d, nil, user).Spec); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := reviewSource(newSourced(t, strings.Replace(shellYAML, "Secret", "ConfigMap", 1)), nil, user).Spec.ResourceAttributes.Resource; got != "configmaps" {
		t.Error(got)
	}
	labelled, wider, plain := d.DeepCopy(), d.DeepCopy(), newDistribution(t, shellYAML, all)
	labelled.Labels = map[string]string{"a": "b"}
	labelled.Finalizers = []string{"example.com/hold"}
	wider.Spec.Targets.IncludedNamespaces.List = []v1alpha1.ResourceDistributionNamespace{{Name: "kube-system"}}
	for name, test := range map[string]struct {
		d, old *v1alpha1.ResourceDistribution
		asked  bool
	}{
		"no source": {plain, nil, false}, "metadata alone": {labelled, d, false}, "other targets": {wider, d, true},
		"a source for the first time": {d, plain, true}, "the source is taken out": {plain, d, false},
	} {
		if asked := reviewSource(test.d, test.old, user) != nil; asked != test.asked {
			t.Errorf("%s: asked %v", name, asked)
		}
	}
}

// access is what the API server answers when it is asked whether jane may get a source. That is allowed, denied, both or neither, or late, which is an error.
type access []string

func (a access) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	if slices.Contains(a, "late") {
		return review, errors.New("late")
	}
	review.Status.Allowed = review.Spec.User == "jane" && slices.Contains(a, "allowed")
	review.Status.Denied = slices.Contains(a, "denied")
	return review, nil
}

// What lacks the label is no source, even if the cache has it. (RD-17)
func TestSourcesHaveTheLabel(t *testing.T) {
	labelled, plain := sourceOf("a"), sourceOf("a")
	plain.Labels = map[string]string{"other": ""}
	for name, test := range map[string]struct {
		reader podwright.Reader
		want   Object
		fails  string
	}{
		"with the label":    {readers.Memory{resourceSourceSecrets: {labelled}}, labelled, ""},
		"without":           {readers.Memory{resourceSourceSecrets: {plain}}, nil, ""},
		"it is not there":   {readers.Memory{resourceSourceSecrets: nil}, nil, ""},
		"it cannot be read": {readers.Broken{Resource: resourceSourceSecrets}, nil, "broken"},
		"sources are not":   {readers.Memory{}, nil, "no cache of sourcesecrets"},
	} {
		r := &reconciler{options: Options{ControllerOptions: podwright.ControllerOptions{Reader: test.reader}}}
		got, err := r.source(newSourced(t, shellYAML))
		if got != test.want || (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}
