// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

func copyName(name string) string {
	copied, _ := images.CopyName(types.NamespacedName{Namespace: "default", Name: name})
	return copied
}

// copied is the copy of a secret of the namespace default, which jobs need.
func copied(name string, jobs ...string) *corev1.Secret {
	c := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1alpha1.DaemonConfigNamespace, Name: copyName(name), UID: "copy", ResourceVersion: "5",
			Labels:      map[string]string{v1alpha1.PullSecretSourceUIDLabel: "source"},
			Annotations: map[string]string{v1alpha1.PullSecretSourceAnnotation: "default/" + name, v1alpha1.PullSecretReferencesAnnotation: strings.Join(jobs, ",")},
		},
		Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("{}")},
	}
	return c
}

// source is the secret s of the namespace default.
func source(changes ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s", UID: "source", Labels: map[string]string{"app": "shop"}},
		Type:       corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("{}"), "more": []byte("x")},
	}
	for _, c := range changes {
		c(s)
	}
	return s
}

func TestPlanCopy(t *testing.T) {
	of, job := types.NamespacedName{Namespace: "default", Name: "s"}, types.NamespacedName{Namespace: "default", Name: "pull"}
	with := func(c *corev1.Secret, changes ...func(*corev1.Secret)) *corev1.Secret {
		for _, change := range changes {
			change(c)
		}
		return c
	}
	fresh := func(c *corev1.Secret) { c.UID, c.ResourceVersion = "", "" }
	data := func(text string) func(*corev1.Secret) {
		return func(c *corev1.Secret) { c.Data[corev1.DockerConfigJsonKey] = []byte(text) }
	}
	older := func(c *corev1.Secret) {
		c.Type, c.Data = corev1.SecretTypeDockercfg, map[string][]byte{corev1.DockerConfigKey: []byte("{}")}
	}
	for _, test := range []struct {
		name            string
		source, present *corev1.Secret
		want            copyChange
	}{
		{"IMG-1.6: a new copy, of the credentials alone", source(), nil, copyChange{want: with(copied("s", "default/pull"), fresh)}},
		{"IMG-1.6: of the older type", source(older), nil, copyChange{want: with(copied("s", "default/pull"), fresh, older)}},
		{"IMG-1.6: it is as it should be", source(), copied("s", "default/pull"), copyChange{}},
		{"IMG-1.6: another job needs it, too", source(), copied("s", "default/a", "default/z"), copyChange{want: copied("s", "default/a", "default/pull", "default/z")}},
		{"IMG-1.6: the source has changed", source(data("new")), copied("s", "default/pull"), copyChange{want: with(copied("s", "default/pull"), data("new"))}},
		{"IMG-1.6: another source of the name", source(func(s *corev1.Secret) { s.UID = "two" }), copied("s", "default/pull"),
			copyChange{want: with(copied("s", "default/pull"), func(c *corev1.Secret) { c.Labels[v1alpha1.PullSecretSourceUIDLabel] = "two" })}},
		{"IMG-1.6: of another type, which cannot be changed", source(older), copied("s", "default/a"), copyChange{remove: true, want: with(copied("s", "default/a", "default/pull"), fresh, older)}},
		{"somebody has made it immutable", source(data("new")), with(copied("s", "default/pull"), func(c *corev1.Secret) { c.Immutable = ptr.To(true) }),
			copyChange{remove: true, want: with(copied("s", "default/pull"), fresh, data("new"))}},
		{"what others say of it stays", source(), with(copied("s"), func(c *corev1.Secret) { c.Labels["team"] = "a" }),
			copyChange{want: with(copied("s", "default/pull"), func(c *corev1.Secret) { c.Labels["team"] = "a" })}},
		{"IMG-1.6: no source", nil, nil, copyChange{problem: "it does not exist"}},
		{"IMG-1.6: the source is gone: the copy goes", nil, copied("s", "default/a"), copyChange{problem: "it does not exist", remove: true}},
		{"IMG-1.6: not of a type with credentials", source(func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }), nil, copyChange{problem: "it is of type Opaque, want kubernetes.io/dockerconfigjson"}},
		{"IMG-1.6: without credentials", source(func(s *corev1.Secret) { s.Data = nil }), copied("s", "default/pull"), copyChange{problem: "it has no .dockerconfigjson", remove: true}},
		{"IMG-1.6: a copy is not copied", source(func(s *corev1.Secret) {
			s.Annotations = map[string]string{v1alpha1.PullSecretSourceAnnotation: "bank/registry"}
		}), nil, copyChange{problem: "it says to be a copy of another one"}},
		{"IMG-1.6: somebody else's secret of that name is left alone", source(), with(copied("s"), func(c *corev1.Secret) { c.Annotations = nil }), copyChange{problem: "namespace kruise-daemon-config has a secret " + copyName("s") + " that is not its copy"}},
		{"IMG-1.6: also where the source is gone", nil, copied("t"), copyChange{problem: "namespace kruise-daemon-config has a secret " + copyName("t") + " that is not its copy"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.present.DeepCopy()
			if diff := cmp.Diff(test.want, planCopy(of, test.source, test.present, job), cmp.AllowUnexported(copyChange{})); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.present); diff != "" {
				t.Errorf("the copy was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestPlanRelease(t *testing.T) {
	job := types.NamespacedName{Namespace: "default", Name: "pull"}
	foreign := copied("s", "default/pull")
	foreign.Labels, foreign.Annotations[v1alpha1.PullSecretSourceAnnotation] = nil, ""
	later := copied("s", "default/pull") // of OpenKruise 1.9
	later.Labels = nil
	for name, test := range map[string]struct {
		present *corev1.Secret
		want    copyChange
	}{
		"IMG-1.6: the last one takes it along": {copied("s", "default/pull"), copyChange{remove: true}},
		"IMG-1.6: others need it":              {copied("s", "default/a", "default/pull"), copyChange{want: copied("s", "default/a")}},
		"the job does not need it":             {copied("s", "default/a"), copyChange{}},
		"IMG-1.6: nobody does":                 {copied("s"), copyChange{remove: true}},
		"IMG-1.15: a copy without a label":     {later, copyChange{remove: true}},
		"it is no copy any more":               {foreign, copyChange{}},
	} {
		if diff := cmp.Diff(test.want, planRelease(test.present, job), cmp.AllowUnexported(copyChange{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// IMG-1.4: what refers to the same secrets in the other way is replaced, and nothing of other namespaces.
func TestPlanReplacesReferences(t *testing.T) {
	there := v1alpha1.ReferenceObject{Namespace: "default", Name: "s"}
	here := v1alpha1.ReferenceObject{Namespace: v1alpha1.DaemonConfigNamespace, Name: copyName("s")}
	others, _ := images.CopyName(types.NamespacedName{Namespace: "other", Name: "s"})
	foreign := []v1alpha1.ReferenceObject{{Namespace: "other", Name: "s"}, {Namespace: "default", Name: "t"}, {Namespace: v1alpha1.DaemonConfigNamespace, Name: "s"},
		{Namespace: v1alpha1.DaemonConfigNamespace, Name: others}} // another tenant's, of a secret of the same name
	for source, want := range map[bool]v1alpha1.ReferenceObject{false: here, true: there} {
		p := &planner{Snapshot: snapshot(newJob(t, "pullSecrets: [s]"))}
		p.ReferToSourceSecrets = source
		for _, before := range []v1alpha1.ReferenceObject{here, there} {
			if diff := cmp.Diff(append(foreign[:4:4], want), p.withSecrets(append(foreign[:4:4], before))); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		}
	}
}

// IMG-1.16: a reference that stands with a mode is that of the job, and is not written again without it.
func TestPlanKeepsModesOfReferences(t *testing.T) {
	p := &planner{Snapshot: snapshot(newJob(t, "pullSecrets: [s]"))}
	before := []v1alpha1.ReferenceObject{
		{Namespace: v1alpha1.DaemonConfigNamespace, Name: "s-x7k2p", Mode: v1alpha1.PullSecretModeBatch},
		{Namespace: "default", Name: "s", Mode: v1alpha1.PullSecretModeBatch},
		{Namespace: v1alpha1.DaemonConfigNamespace, Name: copyName("s"), Mode: "later"},
	}
	if diff := cmp.Diff(before, p.withSecrets(before)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}
