// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/features"
)

const (
	// page is how many objects are asked for at once.
	page = 500
	// mostUnread is how many sentences say what could not be read. A last one counts the rest.
	mostUnread = 100
)

// Reader reads what a check is about. It only gets and lists. (KC-28)
type Reader struct {
	Dynamic    dynamic.Interface
	Kubernetes kubernetes.Interface
	Mapper     meta.RESTMapper
	Planner    *plan.Planner
	Clock      clock.PassiveClock
	// Namespace is that of OpenKruise's programs.
	Namespace string
	// Namespaces are those whose objects are read; all if there are none.
	Namespaces []string
	// Limit is how many objects of a kind are read at most. What is beyond is named in Cluster.Unread.
	Limit int
	// Gates are those that podwright's manager will have.
	Gates *features.Gates
	// Back reads what CheckBack is about, whatever runs, and no plans.
	Back bool
}

// reading is a cluster that is being read.
type reading struct {
	*Reader
	ctx context.Context
	*Cluster
	more int // sentences than Cluster.Unread has
}

// Read reads a cluster. What cannot be read is named in it, so that there is no error.
func (r *Reader) Read(ctx context.Context) *Cluster {
	read := &reading{Reader: r, ctx: ctx, Cluster: &Cluster{Now: r.Clock.Now(), Namespace: r.Namespace, Gates: r.Gates,
		Namespaces: map[string]bool{}, Objects: map[string][]*unstructured.Unstructured{}}}
	read.installation()
	if release, _ := read.release(); release != "" || r.Back { // else there is nothing to take over
		for _, k := range kinds() {
			read.Cluster.Objects[k.Kind] = read.everywhere(k, metav1.ListOptions{})
		}
		read.around()
		if !r.Back {
			read.plans()
		}
	}
	read.countUnread()
	return read.Cluster
}

// installation reads the programs of OpenKruise, and what the API server was told for them.
func (r *reading) installation() {
	r.Definitions = slices.DeleteFunc(r.list(schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, "", metav1.ListOptions{}),
		func(d *unstructured.Unstructured) bool {
			group := text(d.Object, "spec", "group")
			return group != apps && group != policy
		})
	for _, configuration := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		for _, o := range r.list(schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: configuration}, "", metav1.ListOptions{}) {
			if leadsTo(o, r.Cluster.Namespace) {
				r.Webhooks = append(r.Webhooks, o)
			}
		}
	}
	for _, program := range []string{"Deployment", perNode} {
		r.Programs = append(r.Programs, r.list(schema.GroupKind{Group: "apps", Kind: program}, r.Cluster.Namespace, metav1.ListOptions{})...)
	}
	r.Leases = r.list(schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}, r.Cluster.Namespace, metav1.ListOptions{})
	r.Locks = r.list(schema.GroupKind{Kind: "ConfigMap"}, r.Cluster.Namespace, metav1.ListOptions{FieldSelector: "metadata.name=kruise-manager"})
	r.Locks = slices.DeleteFunc(r.Locks, func(o *unstructured.Unstructured) bool { return o.GetName() != "kruise-manager" })
}

// around reads what belongs to objects of OpenKruise.
func (r *reading) around() {
	for _, namespace := range r.list(schema.GroupKind{Kind: "Namespace"}, "", metav1.ListOptions{}) {
		r.Cluster.Namespaces[namespace.GetName()] = true
	}
	controlled := func(o *unstructured.Unstructured) bool {
		owner := metav1.GetControllerOf(o)
		return owner != nil && strings.HasPrefix(owner.APIVersion, apps+"/")
	}
	if len(r.Objects[crons]) > 0 {
		r.Children = slices.DeleteFunc(r.everywhere(schema.GroupKind{Group: "batch", Kind: "Job"}, metav1.ListOptions{}),
			func(job *unstructured.Unstructured) bool { return !controlled(job) })
	}
	r.Pods = slices.DeleteFunc(r.everywhere(schema.GroupKind{Kind: "Pod"}, metav1.ListOptions{}), func(pod *unstructured.Unstructured) bool {
		static := len(r.Objects[restarts]) > 0 && pod.GetAnnotations()[corev1.MirrorPodAnnotationKey] != ""
		return !controlled(pod) && !static && pod.GetAnnotations()[probesAnnotation] == ""
	})
	r.secrets()
}

// secrets reads the metadata of copies of pull secrets.
func (r *reading) secrets() {
	mapping, err := r.Mapper.RESTMapping(schema.GroupKind{Kind: "Secret"})
	if err != nil || len(r.Objects[pulls]) == 0 && !r.Cluster.Namespaces[copiesNamespace] {
		return
	}
	next := ""
	for {
		list, err := r.metadata(mapping.Resource.Resource, copiesNamespace, next)
		if err != nil {
			r.unread("the metadata of Secrets in "+copiesNamespace, err)
			return
		}
		for i := range list.Items {
			if copied := &list.Items[i]; copied.Annotations[distributionv1alpha1.PullSecretSourceAnnotation] != "" {
				r.Copies = append(r.Copies, copied)
			}
		}
		if next = list.Continue; next == "" {
			return
		}
		if len(r.Copies) >= r.Limit {
			r.unreadable(fmt.Sprintf("more than %d Secrets in %s: raise --limit", r.Limit, copiesNamespace))
			return
		}
	}
}

// metadata reads a page of the metadata of a kind of the core group.
func (r *reading) metadata(resource, namespace, next string) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	data, err := r.Kubernetes.CoreV1().RESTClient().Get().Namespace(namespace).Resource(resource).
		SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1").
		Param("limit", strconv.Itoa(page)).Param("continue", next).Do(r.ctx).Raw()
	if err != nil {
		return nil, err
	}
	if err = json.Unmarshal(data, list); err == nil && list.Kind != "PartialObjectMetadataList" {
		err = fmt.Errorf("the API server answers with a %s", list.Kind)
	}
	return list, err
}

// plans asks podwright's planners about workloads.
func (r *reading) plans() {
	for _, k := range kinds() {
		if revisionRule[k.Kind] == "" {
			continue
		}
		for _, object := range r.Objects[k.Kind] {
			next, err := r.Planner.Plan(r.ctx, &workload.Object{Unstructured: *object.DeepCopy()})
			if err != nil {
				r.unread("the plan of "+title(object), err)
				continue
			}
			planned := Planned{Of: object, Rows: next.Rows()}
			if next.Revisions.Create != nil {
				planned.NewRevision = next.Revisions.Create.Name
			}
			r.Cluster.Plans = append(r.Cluster.Plans, planned)
		}
	}
}

// everywhere lists the objects of a kind in the namespaces that are read, or those without one.
func (r *reading) everywhere(kind schema.GroupKind, options metav1.ListOptions) (all []*unstructured.Unstructured) {
	mapping, err := r.Mapper.RESTMapping(kind)
	if len(r.Reader.Namespaces) == 0 || err != nil || mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return r.list(kind, "", options)
	}
	for _, namespace := range r.Reader.Namespaces {
		all = append(all, r.list(kind, namespace, options)...)
	}
	return all
}

// list lists the objects of a kind, page by page. There are none of a kind that the API server does not have.
func (r *reading) list(kind schema.GroupKind, namespace string, options metav1.ListOptions) (all []*unstructured.Unstructured) {
	mapping, err := r.Mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil
	}
	options.Limit = page
	for err == nil {
		var list *unstructured.UnstructuredList
		if list, err = r.Dynamic.Resource(mapping.Resource).Namespace(namespace).List(r.ctx, options); err != nil {
			break
		}
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		switch options.Continue = list.GetContinue(); {
		case options.Continue == "" && len(all) <= r.Limit:
			return all
		case len(all) > r.Limit || len(all) == r.Limit && options.Continue != "":
			r.unreadable(fmt.Sprintf("more than %d %ss: raise --limit, or name fewer --namespaces", r.Limit, kind.Kind))
			return all[:r.Limit]
		}
	}
	r.unread("the "+kind.Kind+"s", err)
	return all
}

func (r *reading) unread(what string, err error) { r.unreadable(fmt.Sprintf("%s: %v", what, err)) }

// unreadable notes a sentence about what could not be read, up to the limit.
func (r *reading) unreadable(sentence string) {
	if len(r.Unread) == mostUnread {
		r.more++
		return
	}
	r.Unread = append(r.Unread, sentence)
}

// countUnread says how many sentences the limit has left out.
func (r *reading) countUnread() {
	if r.more > 0 {
		r.Unread = append(r.Unread, fmt.Sprintf("%d more", r.more))
	}
}
