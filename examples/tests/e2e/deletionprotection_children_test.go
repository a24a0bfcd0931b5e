// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// inhabit creates pods in a namespace: one that has ended, one that is being deleted, and, if there are to be children, an
// active one. (DP-6)
func (d *deletions) inhabit(namespace string, active bool) {
	d.t.Helper()
	pods := d.Core.CoreV1().Pods(namespace)
	create := func(name string) {
		d.AwaitAsking("pod "+name+" is created", func() string { // which needs a service account
			pod := plainPod(name, func(p *corev1.Pod) { p.Finalizers, p.Spec.SchedulerName = []string{"example.com/hold"}, "none" })
			if _, err := pods.Create(d.t.Context(), pod, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				return err.Error()
			}
			return ""
		})
		d.t.Cleanup(func() { d.discard(corev1.SchemeGroupVersion.WithResource("pods"), namespace, name) })
	}
	if active {
		create("active")
	}
	create("ended")
	if _, err := pods.Patch(d.t.Context(), "ended", types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status"); err != nil {
		d.t.Fatal(err)
	}
	for _, name := range []string{"leaving", "leaving-too"} {
		create(name)
		if err := pods.Delete(d.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			d.t.Fatal(err)
		}
	}
}

// defineCarts creates a CRD with an object that is being deleted and, if there are to be children, an active one. (DP-7)
func (d *deletions) defineCarts(value string, active bool) (name string) {
	d.t.Helper()
	name = fmt.Sprintf("carts-%d.example.com", d.objects)
	if value == "Cascading" { // the manager has to list its objects
		name = map[bool]string{true: "full-", false: "empty-"}[active] + d.cascading + ".example.com"
	}
	plural, _, _ := strings.Cut(name, ".")
	resource := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: plural}
	kind := "Cart" + strings.ReplaceAll(plural, "-", "")
	d.define(name, kind, "v1", value)
	objects := []string{"leaving"}
	if active {
		objects = append(objects, "active")
	}
	for _, object := range objects {
		cart := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind, "metadata": map[string]any{"name": object, "finalizers": []any{"example.com/hold"}}}}
		if _, err := d.protector.Resource(resource).Namespace(d.Namespace).Create(d.t.Context(), cart, metav1.CreateOptions{}); err != nil {
			d.t.Fatal(err)
		}
		d.t.Cleanup(func() { d.discard(resource, d.Namespace, object) })
	}
	if err := d.protector.Resource(resource).Namespace(d.Namespace).Delete(d.t.Context(), "leaving", metav1.DeleteOptions{}); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.discard(definitions, "", name) })
	return name
}

// ownDefinitions asks for the deletion of all CRDs of the manager, whose objects it has to list for that.
func (p *protection) ownDefinitions(t *testing.T) {
	list, err := p.user.Resource(definitions).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client := p.user.Resource(definitions)
	for _, definition := range list.Items {
		name := definition.GetName()
		if !strings.HasSuffix(name, ".kruise.io") {
			continue
		}
		patch := func(value string) {
			if _, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"`+deleteProtection+`":`+value+`}}}`), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		patch(`"Cascading"`)
		err := client.Delete(t.Context(), name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		patch("null")
		if err != nil && !strings.Contains(err.Error(), refusesDeletion+"Cascading and active CRs ") {
			t.Errorf("%s: observed %v", name, err)
		}
	}
}

// awaitDeletionPolicies waits until the policies are in force, and found to be in order.
func (p *protection) awaitDeletionPolicies() {
	p.Helper()
	for _, kind := range []protectable{protectables[2], protectables[0]} {
		d := &deletions{p, p.T, kind}
		namespace, name := d.create("Always", false)
		for want, ask := range map[string]func() error{
			"ValidatingAdmissionPolicy": func() error {
				return p.user.Resource(kind.resource).Namespace(namespace).Delete(p.Context(), name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
			},
			"group " + protectors: func() error {
				_, err := p.user.Resource(kind.resource).Namespace(namespace).Patch(p.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":null}}`),
					metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
				return err
			},
		} {
			p.AwaitAsking("the policies are in force", func() string {
				if err := ask(); err == nil || !strings.Contains(err.Error(), want) {
					return fmt.Sprint(err)
				}
				return ""
			})
		}
	}
	p.AwaitAsking("the API server has found nothing odd in the policies", func() string {
		list, err := p.Core.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(p.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, policy := range list.Items {
			if policy.Status.TypeChecking == nil || len(policy.Status.TypeChecking.ExpressionWarnings) > 0 {
				return fmt.Sprintf("%s: %+v", policy.Name, policy.Status)
			}
		}
		return ""
	})
}

// labelIsForProtectors tries to take the label away by every request that could. (DP-12)
func (p *protection) labelIsForProtectors(t *testing.T) {
	const want = "only members of the group " + protectors + " may take it away"
	for _, kind := range protectables {
		d := &deletions{p, t, kind}
		namespace, name := d.create("Always", false)
		user, protector := p.user.Resource(kind.resource).Namespace(namespace), p.protector.Resource(kind.resource).Namespace(namespace)
		subresources := []string{"", "status"}
		if kind.resource == namespaces {
			subresources = append(subresources, "finalize")
		}
		for _, subresource := range subresources {
			var err error
			switch subresource {
			case "finalize":
				stored, _ := protector.Get(t.Context(), name, metav1.GetOptions{})
				stored.SetLabels(nil)
				_, err = user.Update(t.Context(), stored, metav1.UpdateOptions{}, subresource)
			case "status":
				_, err = user.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}, subresource)
			default:
				_, err = user.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"`+deleteProtection+`":"off"}}}`), metav1.PatchOptions{})
			}
			after, _ := protector.Get(t.Context(), name, metav1.GetOptions{})
			// Of some kinds the API server takes no labels with the status.
			if refused := err != nil && apierrors.IsForbidden(err) && strings.Contains(err.Error(), want); after.GetLabels()[deleteProtection] != "Always" || !refused && subresource != "status" {
				t.Errorf("%s/%s without the label: observed %v, then labels %v", kind.resource, subresource, err, after.GetLabels())
			}
		}
		if _, err := user.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"shop"}}}`), metav1.PatchOptions{}); err != nil {
			t.Errorf("%s: another label is refused: %v", kind.resource, err)
		}
		if _, err := protector.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"`+deleteProtection+`":null}}}`), metav1.PatchOptions{}); err != nil {
			t.Errorf("%s: a member of the group is refused: %v", kind.resource, err)
		}
		if err := user.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("%s: without the label its deletion is refused: %v", kind.resource, err)
		}
	}
}

// namespaceWaits deletes a namespace with a protected Deployment in it. (DP-10)
func (p *protection) namespaceWaits(t *testing.T) {
	namespace, name := &deletions{p, t, protectables[0]}, p.Namespace+"-waits"
	namespace.apply(namespaces, "", name, "", nil)
	deployment := &deletions{p, t, protectables[2]}
	deployment.apply(deployment.kind.resource, name, "web", "Always", map[string]any{
		"replicas": int64(0), "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:1"}}}},
	})
	if err := p.user.Resource(namespaces).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.AwaitAsking("the namespace waits for the Deployment", func() string {
		stored, err := p.Core.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, condition := range stored.Status.Conditions {
			if condition.Type == corev1.NamespaceDeletionContentFailure && strings.Contains(condition.Message, refusesDeletion+"Always") {
				return ""
			}
		}
		return fmt.Sprintf("%+v", stored.Status)
	})
	if _, err := p.protector.Resource(deployment.kind.resource).Namespace(name).Patch(t.Context(), "web", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"`+deleteProtection+`":null}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.AwaitAsking("the Deployment goes", func() string {
		_, err := p.user.Resource(deployment.kind.resource).Namespace(name).Get(t.Context(), "web", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Sprintf("error %v", err)
		}
		return ""
	})
}
