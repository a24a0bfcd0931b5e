// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/availability/deletion"
)

const deleteProtection = "policy.kruise.io/delete-protection"

// protectable makes objects of the kinds that can be protected, as the API server has them: with Go types
// those that it is built with.
var protectable = map[string]struct {
	kind     schema.GroupVersionKind
	resource string
	object   runtime.Object
}{
	"Namespace":                {corev1.SchemeGroupVersion.WithKind("Namespace"), "namespaces", &corev1.Namespace{}},
	"CustomResourceDefinition": {apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), "customresourcedefinitions", &apiextensionsv1.CustomResourceDefinition{}},
	"Deployment":               {appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", &appsv1.Deployment{}},
	"ReplicaSet":               {appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "replicasets", &appsv1.ReplicaSet{}},
	"StatefulSet":              {appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", &appsv1.StatefulSet{}},
	"CloneSet":                 {schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}, "clonesets", nil},
	"StatefulSet v1alpha1":     {schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "StatefulSet"}, "statefulsets", nil},
	"StatefulSet v1beta1":      {schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1beta1", Kind: "StatefulSet"}, "statefulsets", nil},
	"Service":                  {corev1.SchemeGroupVersion.WithKind("Service"), "services", &corev1.Service{}},
	"Ingress":                  {networkingv1.SchemeGroupVersion.WithKind("Ingress"), "ingresses", &networkingv1.Ingress{}},
	"UnitedDeployment":         {schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "UnitedDeployment"}, "uniteddeployments", nil},
}

// an object of one of them. nil replicas are none.
func protectedObject(t rapid.TB, name string, labels map[string]string, deleting bool, replicas *int32) runtime.Object {
	t.Helper()
	kind := protectable[name]
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": map[string]any{}}}
	u.SetGroupVersionKind(kind.kind)
	if labels != nil {
		u.SetLabels(labels)
	}
	if deleting {
		u.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	}
	if replicas != nil && !slices.Contains([]string{"namespaces", "customresourcedefinitions", "services", "ingresses"}, kind.resource) {
		_ = unstructured.SetNestedField(u.Object, int64(*replicas), "spec", "replicas")
	}
	if kind.object == nil {
		return u
	}
	typed := kind.object.DeepCopyObject()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
		t.Fatal(err)
	}
	return typed
}

func deletionOf(name string, old runtime.Object) request {
	return request{resource: protectable[name].resource, kind: protectable[name].kind, name: "web", old: old, user: &user.DefaultInfo{Name: "tenant"}}
}

// The policies refuse what Decide refuses without having to count, in its words, and nothing
// else. (DP-11)
func TestDeletionPoliciesProperty(t *testing.T) {
	all, _, err := deletion.Policies(deletion.PolicyOptions{LabelGroup: "admins"})
	if err != nil {
		t.Fatal(err)
	}
	j := newJudge(t, all)
	kinds := slices.Sorted(maps.Keys(protectable))
	var refused, allowed int
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(kinds).Draw(t, "kind")
		var labels map[string]string
		if rapid.IntRange(0, 4).Draw(t, "labels") > 0 {
			labels = map[string]string{"app": "web"}
		}
		if value := rapid.SampledFrom([]string{"none", "Always", "Cascading", "Cascading", "always", "cascading", "", "true"}).Draw(t, "value"); labels != nil && value != "none" {
			labels[deleteProtection] = value
		}
		deleting := rapid.IntRange(0, 4).Draw(t, "deleting") == 0
		var replicas *int32
		if rapid.IntRange(0, 4).Draw(t, "replicas set") > 0 {
			replicas = new(rapid.OneOf(rapid.Int32Range(-1, 3), rapid.Int32()).Draw(t, "replicas"))
		}
		old := protectedObject(t, name, labels, deleting, replicas)
		var want []string
		if d := deletion.Decide(protectable[name].kind.GroupKind(), old.(metav1.Object), replicas); d.Reason != "" {
			want = []string{"Forbidden: " + d.Reason}
		}
		if got := j.refusals(t, deletionOf(name, old)); !slices.Equal(got, want) {
			t.Fatalf("the policies say %q, Decide says %q", got, want)
		}
		if len(want) > 0 {
			refused++
		} else {
			allowed++
		}
	})
	if refused == 0 || allowed == 0 {
		t.Errorf("%d were refused and %d allowed", refused, allowed)
	}
}

// Kinds of Kubernetes that have a label of that name are not protected. (DP-1)
func TestDeletionPoliciesLeaveOthers(t *testing.T) {
	all, _, err := deletion.Policies(deletion.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{deleteProtection: "Always"}}}
	newJudge(t, all).check(t, request{resource: "daemonsets", kind: appsv1.SchemeGroupVersion.WithKind("DaemonSet"), name: "web", old: set, user: &user.DefaultInfo{Name: "tenant"}}, "")
	scale := deletionOf("Deployment", protectedObject(t, "Deployment", map[string]string{deleteProtection: "Always"}, false, nil))
	scale.subresource = "status" // DP-2
	newJudge(t, all).check(t, scale, "")
}

// What is no number is refused, as the webhook refuses it: it cannot be told whether it is
// above 0.
func TestDeletionPoliciesOfOddReplicas(t *testing.T) {
	all, _, err := deletion.Policies(deletion.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	odd := protectedObject(t, "UnitedDeployment", map[string]string{deleteProtection: "Cascading"}, false, nil).(*unstructured.Unstructured)
	_ = unstructured.SetNestedField(odd.Object, "three", "spec", "replicas")
	if got := newJudge(t, all).refusals(t, deletionOf("UnitedDeployment", odd)); len(got) != 1 {
		t.Errorf("refusals %q, want one", got)
	}
	delete(odd.Object, "spec")
	newJudge(t, all).check(t, deletionOf("UnitedDeployment", odd), "")
	// DP-8: the numbers of the subsets count if there is no other.
	_ = unstructured.SetNestedSlice(odd.Object, []any{map[string]any{"name": "a", "replicas": int64(2)}, map[string]any{"name": "b", "replicas": "50%"},
		map[string]any{"name": "c"}, map[string]any{"name": "d", "replicas": int64(3)}}, "spec", "topology", "subsets")
	newJudge(t, all).check(t, deletionOf("UnitedDeployment", odd), "Forbidden: forbidden by ResourcesProtectionDeletion for "+deleteProtection+"=Cascading and replicas 5>0")
}

// The label is for a group to take away. (DP-12)
func TestDeletionPolicyOfTheLabel(t *testing.T) {
	all, _, err := deletion.Policies(deletion.PolicyOptions{LabelGroup: "admins"})
	if err != nil {
		t.Fatal(err)
	}
	j := newJudge(t, all)
	admin, tenant := &user.DefaultInfo{Name: "a", Groups: []string{"system:authenticated", "admins"}}, &user.DefaultInfo{Name: "t", Groups: []string{"system:authenticated", "admins2"}}
	value := func(v string) map[string]string {
		if v == "none" {
			return nil
		}
		return map[string]string{deleteProtection: v}
	}
	for name, kind := range protectable {
		subresources := []string{"", "status"}
		if name == "Namespace" {
			subresources = append(subresources, "finalize")
		}
		for _, subresource := range subresources {
			for _, test := range []struct {
				before, after string
				deleting      bool
				user          user.Info
				refused       bool
			}{
				{"Always", "none", false, tenant, true},
				{"Always", "", false, tenant, true},
				{"Always", "Cascading", false, tenant, true},
				{"Always", "always", false, tenant, true},
				{"Always", "Always", false, tenant, false},
				{"Cascading", "none", false, tenant, true},
				{"Cascading", "Cascading", false, tenant, false},
				{"Cascading", "Always", false, tenant, false},
				{"none", "Always", false, tenant, false},
				{"none", "none", false, tenant, false},
				{"always", "none", false, tenant, false},
				{"Always", "none", true, tenant, false},
				{"Always", "none", false, admin, false},
				{"Always", "Cascading", false, admin, false},
				{"Always", "none", false, &user.DefaultInfo{Name: "stranger"}, true},
			} {
				t.Run(fmt.Sprintf("%s/%s/%s to %s by %s", name, subresource, test.before, test.after, test.user.GetName()), func(t *testing.T) {
					want := ""
					if test.refused {
						want = "Forbidden: the label " + deleteProtection + "=" + test.before + " protects web from deletion: only members of the group admins may take it away"
					}
					j.check(t, request{kind.resource, subresource, kind.kind, "web",
						protectedObject(t, name, value(test.after), test.deleting, nil), protectedObject(t, name, value(test.before), test.deleting, nil), test.user}, want)
				})
			}
		}
	}
}

// Thousands of labels and groups cost nothing that the API server would mind.
func TestDeletionPoliciesOfLargeObjects(t *testing.T) {
	all, _, err := deletion.Policies(deletion.PolicyOptions{LabelGroup: "admins"})
	if err != nil {
		t.Fatal(err)
	}
	j := newJudge(t, all)
	labels := map[string]string{deleteProtection: "Cascading"}
	for i := range 5000 {
		labels[fmt.Sprint("example.com/label-", i)] = strings.Repeat("x", 63)
	}
	tenant := &user.DefaultInfo{Name: "tenant"}
	for i := range 5000 {
		tenant.Groups = append(tenant.Groups, fmt.Sprint("group-", i))
	}
	large := protectedObject(t, "CloneSet", labels, false, new(int32(3))).(*unstructured.Unstructured)
	removed := deletionOf("CloneSet", large)
	removed.user = tenant
	j.check(t, removed, "Forbidden: forbidden by ResourcesProtectionDeletion for "+deleteProtection+"=Cascading and replicas 3>0")
	without := edited(large, func(u *unstructured.Unstructured) {
		unstructured.RemoveNestedField(u.Object, "metadata", "labels", deleteProtection)
	})
	j.check(t, request{"clonesets", "", large.GroupVersionKind(), "web", without, large, tenant},
		"Forbidden: the label "+deleteProtection+"=Cascading protects web from deletion: only members of the group admins may take it away")
}
