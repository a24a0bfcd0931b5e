// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing/synctest"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// foreign are the scales of workloads that no informer is for.
type foreign struct {
	wants map[string]int32 // by name
	fails error
	asked int
}

func (f *foreign) Workload(_ context.Context, _ string, kind schema.GroupVersionKind, name string) (*budget.Workload, error) {
	f.asked++
	wants, found := f.wants[name]
	if f.fails != nil || !found {
		return nil, f.fails
	}
	return &budget.Workload{GroupKind: kind.GroupKind(), Name: name, UID: types.UID("uid-" + name), Replicas: &wants}, nil
}

// standing plays a step about budgets, workloads and PodDisruptionBudgets.
func (w *world) standing(verb string, args []string, named map[string]string) string {
	switch first, second := args[0], args[1]; verb {
	case "budget":
		w.Create(budgetOf(first, second, named), "")
	case "edit":
		w.EditNamed(first, second)
	case "unbudget":
		w.DeleteNamed(first)
	case "cloneset":
		w.workload([]string{"apps.kruise.io/v1alpha1", "clonesets", "CloneSet", "web", first}, "")
	case "workload":
		w.workload(args, named["of"])
	case "owner":
		if w.last = noOwner; first != "none" {
			w.last = ownerOf(first, second, args[2], "uid-"+args[2])
		}
		w.owners[args[2]] = w.last
	case "machines":
		w.machines(first)
	case "scale":
		w.merge(second, `{"spec":{"replicas":`+first+`}}`)
	case "remove":
		orphan := metav1.DeletePropagationOrphan
		w.Must(w.Kube.CoreV1().RESTClient().Delete().AbsPath("/apis/" + cmp.Or(first, webPath)).Body(&metav1.DeleteOptions{PropagationPolicy: &orphan}).Do(w.T.Context()).Error())
	case "finalizer":
		w.merge("", `{"metadata":{"finalizers":["shop.io/hold"]}}`)
	case "behind":
		for _, webhook := range w.webhooks {
			g, err := NewGuard(GuardOptions{Availability: w.options.Availability, Budgets: w.snapshotOfBudgets()})
			w.Must(err)
			webhook.Guard = g
		}
	default:
		return w.disruptionBudget(verb, first, second)
	}
	synctest.Wait()
	return ""
}

const webPath = "apps.kruise.io/v1alpha1/namespaces/default/clonesets/web"

// merge changes the CloneSet, or what is at a path below /apis.
func (w *world) merge(path, patch string) {
	path = "/apis/" + cmp.Or(path, webPath)
	w.Must(w.Kube.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(path).Body([]byte(patch)).Do(w.T.Context()).Error())
}

// budgetOf is a budget, web if it has no other name.
func budgetOf(maxUnavailable, name string, named map[string]string) *v1alpha1.PodUnavailableBudget {
	b := newBudget(cmp.Or(name, "web"), maxUnavailable)
	for key, value := range named {
		switch key {
		case "app":
			b = patches.Changed(words, b, "app="+value)
		case "of":
			version, name := path.Split(value)
			version, kind := path.Split(strings.TrimSuffix(version, "/"))
			b.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: strings.TrimSuffix(version, "/"), Kind: kind, Name: name}
		case "least":
			least := intstr.Parse(value)
			b.Spec.MaxUnavailable, b.Spec.MinAvailable = nil, &least
		default:
			metav1.SetMetaDataAnnotation(&b.ObjectMeta, key, value)
		}
	}
	return b
}

// workload creates a workload: its API version, resource, kind and name, and how many pods it wants or its spec.
func (w *world) workload(args []string, of string) {
	version, resource, kind, name, spec := args[0], args[1], args[2], args[3], args[4]
	if !strings.HasPrefix(spec, "{") {
		selector := `{"matchLabels":{"app":"web"}}`
		if version == "v1" {
			selector = `{"app":"web"}`
		}
		spec = fmt.Sprintf(`{"replicas":%s,"selector":%s,"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}`, spec, selector)
	}
	owners := "[]"
	if owner := w.owners[of]; of != "" {
		owners = fmt.Sprintf(`[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true}]`, owner.APIVersion, owner.Kind, owner.Name, owner.UID)
	}
	prefix := "/apis/"
	if version == "v1" {
		prefix = "/api/"
	}
	object := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"default","ownerReferences":%s},"spec":%s}`,
		version, kind, name, owners, spec)
	post := w.Kube.CoreV1().RESTClient().Post().AbsPath(prefix + version + "/namespaces/default/" + resource)
	data, err := post.SetHeader("Content-Type", "application/json").Body([]byte(object)).DoRaw(w.T.Context())
	w.Must(err)
	var created metav1.PartialObjectMetadata
	w.Must(json.Unmarshal(data, &created))
	w.last = ownerOf(version, kind, name, string(created.UID))
	w.owners[name] = w.last
}

// machines says what is known of how many pods Machines of the name web want.
func (w *world) machines(wants string) {
	w.scales.fails = nil
	switch wants {
	case "unread":
		w.scales.fails = ErrNotRead
	case "failing":
		w.scales.fails = errors.New("no answer")
	case "gone":
		delete(w.scales.wants, "web")
	default:
		w.scales.wants["web"] = int32(patches.Number(w.T, wants))
	}
}

// disruptionBudget plays a step about PodDisruptionBudgets.
func (w *world) disruptionBudget(verb, name, what string) string {
	all := w.Kube.PolicyV1().PodDisruptionBudgets("default")
	var err error
	switch verb {
	case "pdb":
		_, err = all.Create(w.T.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": what}}}}, metav1.CreateOptions{})
	case "patch-pdb":
		var subresources []string
		if strings.HasPrefix(what, `{"status"`) {
			subresources = append(subresources, "status")
		}
		_, err = all.Patch(w.T.Context(), name, types.MergePatchType, []byte(what), metav1.PatchOptions{}, subresources...)
	case "delete-pdb":
		err = all.Delete(w.T.Context(), name, metav1.DeleteOptions{})
	default:
		return "no step " + verb
	}
	w.Must(err)
	return ""
}

// disruptionBudgets shows the PodDisruptionBudgets.
func (w *world) disruptionBudgets() (lines []string) {
	list, err := w.Kube.PolicyV1().PodDisruptionBudgets("default").List(w.T.Context(), metav1.ListOptions{})
	w.Must(err)
	for _, d := range list.Items {
		line := fmt.Sprintf("PodDisruptionBudget %s: minAvailable %v, maxUnavailable %v, of %s", d.Name, d.Spec.MinAvailable, d.Spec.MaxUnavailable, metav1.FormatLabelSelector(d.Spec.Selector))
		if ref := metav1.GetControllerOf(&d); ref != nil {
			line += ", owned by " + ref.Name
		}
		if len(d.Annotations) > 0 {
			line += fmt.Sprint(", annotations ", d.Annotations)
		}
		lines = append(lines, line)
	}
	return lines
}
