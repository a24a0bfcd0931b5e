// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// Values of the one key of what is distributed: good as they are in a ConfigMap, and as Base64 in a Secret.
const (
	first  = "Zmlyc3Q="
	second = "c2Vjb25k"
	ours   = "b3Vycw=="
)

// distributed is a ResourceDistribution of a Secret or a ConfigMap, and the namespaces that it is for. All have names that begin
// with that of the scene.
type distributed struct {
	*testbed.Scene
	*bed
	kind   string
	client client.ResourceDistributionInterface
}

func newDistributed(t *testing.T, kind string) *distributed {
	t.Helper()
	s := &distributed{Scene: steady.NewScene(t, nil), bed: steady, kind: kind}
	clients, err := client.NewForConfig(s.Config())
	if err != nil {
		s.Fatal(err)
	}
	s.client = clients.ResourceDistributions()
	s.Cleanup(func() { _ = s.client.Delete(context.Background(), s.Namespace, metav1.DeleteOptions{}) })
	return s
}

func (s *distributed) name(namespace string) string { return s.Namespace + "-" + namespace }

// namespace creates a namespace, which the selector finds if it is selected.
func (s *distributed) namespace(name string, selected bool) {
	s.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name(name), Labels: map[string]string{}}}
	if selected {
		namespace.Labels[s.Namespace] = "yes"
	}
	if _, err := s.Core.CoreV1().Namespaces().Create(s.Context(), namespace, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = s.Core.CoreV1().Namespaces().Delete(context.Background(), s.name(name), metav1.DeleteOptions{})
	})
}

// relabel has the selector find a namespace, or find it no more.
func (s *distributed) relabel(name, value string) {
	s.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, s.Namespace, value)
	if _, err := s.Core.CoreV1().Namespaces().Patch(s.Context(), s.name(name), types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// resource is a Secret or ConfigMap with a value.
func (s *distributed) resource(value string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": s.kind, "metadata": map[string]any{"name": "shared", "labels": map[string]any{"team": "a"}}, "data": map[string]any{"key": value}}
}

// of lists the objects that are distributed, in a namespace.
func (s *distributed) of(namespace string) dynamic.ResourceInterface {
	return s.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource(strings.ToLower(s.kind) + "s")).Namespace(s.name(namespace))
}

// distribute creates the ResourceDistribution.
func (s *distributed) distribute(value string, edits ...func(*v1alpha1.ResourceDistribution)) error {
	raw, err := json.Marshal(s.resource(value))
	if err != nil {
		return err
	}
	d := &v1alpha1.ResourceDistribution{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	d.Spec.Resource = runtime.RawExtension{Raw: raw}
	d.Spec.Targets.NamespaceLabelSelector.MatchLabels = map[string]string{s.Namespace: "yes"}
	for _, edit := range edits {
		edit(d)
	}
	_, err = s.client.Create(s.Context(), d, metav1.CreateOptions{})
	return err
}

func (s *distributed) edit(patch string) {
	s.Helper()
	if _, err := s.client.Patch(s.Context(), s.Namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// await waits until the values in some namespaces are these, "" if there is nothing, and the status is this one. The status
// says how many of how many namespaces have their copy, and what failed in which one.
func (s *distributed) await(moment, status string, values map[string]string) {
	s.Helper()
	s.AwaitAsking(moment, func() string {
		got := map[string]string{}
		for name := range values {
			object, err := s.of(name).Get(s.Context(), "shared", metav1.GetOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return err.Error()
			}
			if got[name] = ""; err == nil {
				got[name], _, _ = unstructured.NestedString(object.Object, "data", "key")
			}
		}
		return cmp.Diff(values, got) + cmp.Diff(status, s.status())
	})
}

func (s *distributed) status() string {
	d, err := s.client.Get(s.Context(), s.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	if err != nil {
		return err.Error()
	}
	line := fmt.Sprintf("%d of %d", d.Status.Succeeded, d.Status.Desired)
	if d.Status.ObservedGeneration != d.Generation {
		line += ", which is outdated"
	}
	for _, condition := range d.Status.Conditions {
		if condition.Status == "True" {
			line += fmt.Sprintf(", %s %s", condition.Type, strings.ReplaceAll(strings.Join(condition.FailedNamespaces, " "), s.Namespace+"-", ""))
		}
	}
	return line
}

func listOf(names ...string) (list v1alpha1.ResourceDistributionTargetNamespaces) {
	for _, name := range names {
		list.List = append(list.List, v1alpha1.ResourceDistributionNamespace{Name: name})
	}
	return list
}

// A Secret, or a ConfigMap, is distributed, stays unchanged, follows its template and its namespaces, spares what is not its
// own, and goes.
func TestResourceDistribution(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"Secret", "ConfigMap"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newDistributed(t, kind)
			for _, name := range []string{"a", "b", "excluded"} {
				s.namespace(name, true)
			}
			s.namespace("other", false)
			foreign := &unstructured.Unstructured{Object: s.resource(ours)}
			if _, err := s.of("other").Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := s.distribute(first, func(d *v1alpha1.ResourceDistribution) {
				d.Spec.Targets.IncludedNamespaces, d.Spec.Targets.ExcludedNamespaces = listOf(s.name("later")), listOf(s.name("excluded"))
			}); err != nil {
				t.Fatal(err)
			}
			s.await("RD-1 to RD-6: it is distributed", "2 of 3, NamespaceNotExists later", map[string]string{"a": first, "b": first, "excluded": "", "other": ours})
			s.namespace("later", false)
			s.await("RD-13: a new namespace has it", "3 of 3", map[string]string{"later": first})
			s.keepsItsCopies()
			s.relabel("other", `"yes"`)
			s.await("RD-7: another object of the name stays", "3 of 4, ConflictOccurred other", map[string]string{"other": ours})
			s.edit(fmt.Sprintf(`{"spec":{"resource":{"data":{"key":%q}}}}`, second))
			s.await("RD-8: copies follow the template", "3 of 4, ConflictOccurred other", map[string]string{"a": second, "b": second, "later": second, "other": ours})
			if err := s.of("other").Delete(t.Context(), "shared", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			s.edit(`{"spec":{"targets":{"excludedNamespaces":null}}}`)
			s.await("RD-10: what was in the way is gone", "5 of 5", map[string]string{"excluded": second, "other": second})
			s.relabel("b", "null")
			s.await("RD-9: where it is not wanted any more it goes", "4 of 4", map[string]string{"a": second, "b": ""})
			if _, err := s.of("b").Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := s.client.Delete(t.Context(), s.Namespace, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			s.await("RD-12: copies go with it", "gone", map[string]string{"a": "", "b": ours, "excluded": "", "later": "", "other": ""})
		})
	}
}

// keepsItsCopies changes copies, and deletes one. What others have in the metadata of a copy stays.
func (s *distributed) keepsItsCopies() {
	s.Helper()
	drift := fmt.Sprintf(`{"metadata":{"labels":{"theirs":"yes"}},"data":{"key":%q,"more":%q}}`, ours, ours)
	if _, err := s.of("a").Patch(s.Context(), "shared", types.MergePatchType, []byte(drift), metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
	if err := s.of("b").Delete(s.Context(), "shared", metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	s.await("RD-8: drift is put right", "3 of 3", map[string]string{"a": first, "b": first})
	object, err := s.of("a").Get(s.Context(), "shared", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	data, _, _ := unstructured.NestedStringMap(object.Object, "data")
	labels := object.GetLabels()
	delete(labels, v1alpha1.ResourceCopyLabel)
	if diff := cmp.Diff(map[string]string{"key": first}, data) + cmp.Diff(map[string]string{"team": "a", "theirs": "yes"}, labels); diff != "" {
		s.Errorf("RD-8: the copy (-expected +observed):\n%s", diff)
	}
	if from := object.GetAnnotations()[v1alpha1.ResourceDistributedFromAnnotation]; from != s.Namespace {
		s.Errorf("RD-6: the copy says that it is from %q", from)
	}
}

// What the API server would not store is refused before it is distributed.
func TestResourceDistributionThatIsRefused(t *testing.T) {
	t.Parallel()
	for kind, test := range map[string]struct{ fields, why string }{
		"Secret":    {`,"type":"kubernetes.io/tls"}`, "tls.crt"},
		"ConfigMap": {`,"data":{"twice":"a"},"binaryData":{"twice":"YQ=="}}`, "twice"},
	} {
		s := newDistributed(t, kind)
		err := s.distribute(first, func(d *v1alpha1.ResourceDistribution) {
			d.Spec.Resource.Raw = slices.Concat(d.Spec.Resource.Raw[:len(d.Spec.Resource.Raw)-1], []byte(test.fields))
		})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "failed to dry-run to validate spec.resource, error: ") || !strings.Contains(err.Error(), test.why) {
			s.Errorf("RD-16: a %s that the API server refuses: %v", kind, err)
		}
	}
}

// as returns a client of another user, who may write ResourceDistributions and nothing else.
func (s *distributed) as(user string) client.ResourceDistributionInterface {
	s.Helper()
	s.grant(user, "", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"resourcedistributions"}})
	config := s.Config()
	config.Impersonate.UserName = user
	clients, err := client.NewForConfig(config)
	if err != nil {
		s.Fatal(err)
	}
	return clients.ResourceDistributions()
}

// grant gives a user a right, in a namespace, or everywhere.
func (s *distributed) grant(user, namespace string, rule rbacv1.PolicyRule) {
	s.Helper()
	meta := metav1.ObjectMeta{Name: user, Namespace: namespace}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	var err, err2 error
	if rbac := s.Core.RbacV1(); namespace == "" {
		_, err = rbac.ClusterRoles().Create(s.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
		_, err2 = rbac.ClusterRoleBindings().Create(s.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}}, metav1.CreateOptions{})
		s.Cleanup(func() {
			_ = rbac.ClusterRoles().Delete(context.Background(), user, metav1.DeleteOptions{})
			_ = rbac.ClusterRoleBindings().Delete(context.Background(), user, metav1.DeleteOptions{})
		})
	} else {
		_, err = rbac.Roles(namespace).Create(s.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
		_, err2 = rbac.RoleBindings(namespace).Create(s.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user}}, metav1.CreateOptions{})
	}
	if err := errors.Join(err, err2); err != nil {
		s.Fatal(err)
	}
}

// A user who may get a Secret has it distributed, and no other user. The copies follow it, and stay when it goes.
func TestResourceDistributionOfASource(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"Secret", "ConfigMap"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newDistributed(t, kind)
			s.namespace("base", false)
			s.namespace("a", true)
			source := &unstructured.Unstructured{Object: s.resource(first)}
			source.SetName("source")
			source.SetLabels(map[string]string{v1alpha1.ResourceSourceLabel: ""})
			if _, err := s.of("base").Create(t.Context(), source, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			user := "user-" + s.Namespace
			author := s.as(user)
			distribute := func() error {
				own := *s
				own.client = author
				return own.distribute(first, func(d *v1alpha1.ResourceDistribution) {
					d.Spec.Resource.Raw = fmt.Appendf(nil, `{"apiVersion":"v1","kind":%q,"metadata":{"name":"shared"}}`, kind)
					d.Spec.SourceRef = &v1alpha1.ResourceDistributionSource{Namespace: s.name("base"), Name: "source"}
				})
			}
			var refused error
			s.AwaitAsking("RD-18: the API server knows the user, and the webhook refuses him", func() string {
				if refused = distribute(); refused == nil || apierrors.IsForbidden(refused) {
					return fmt.Sprint(refused)
				}
				return ""
			})
			if !apierrors.IsInvalid(refused) || !strings.Contains(refused.Error(), "cannot get "+strings.ToLower(kind)+"s "+s.name("base")+"/source") {
				t.Fatalf("RD-18: the user may not get it: %v", refused)
			}
			s.grant(user, s.name("base"), rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{strings.ToLower(kind) + "s"}, ResourceNames: []string{"source"}})
			s.AwaitAsking("RD-18: who may get it has it distributed", func() string {
				if err := distribute(); err != nil {
					return err.Error()
				}
				return ""
			})
			s.await("RD-17: it is distributed", "1 of 1", map[string]string{"a": first})
			if _, err := s.of("base").Patch(t.Context(), "source", types.MergePatchType, fmt.Appendf(nil, `{"data":{"key":%q}}`, second), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			s.await("RD-17: it has changed", "1 of 1", map[string]string{"a": second})
			if err := s.of("base").Delete(t.Context(), "source", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			s.namespace("b", true)
			s.await("RD-17: it has gone", "1 of 2, SourceMissing b", map[string]string{"a": second, "b": ""})
		})
	}
}
