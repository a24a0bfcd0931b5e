// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/manager/app"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// protectedCRDs are the flags of a manager that may list what the tests have of custom resources. They take rights.
var protectedCRDs = []string{"--deletion-protection-crds=full-carts.example.com,empty-carts.example.com,full-baskets.example.com,empty-baskets.example.com"}

const (
	deleteProtection = "policy.kruise.io/delete-protection"
	refusesDeletion  = "forbidden by ResourcesProtectionDeletion for " + deleteProtection + "="
	// protectors are the group whose members may take the label away.
	protectors = "protectors"
)

// Every kind with every value of the label is deleted in every way. The webhooks alone decide, then the policies as well, and
// then the policies while no manager runs. It is among TestFaults because what has the label cannot go meanwhile. (DP-1, DP-3,
// DP-5 to DP-7, DP-11, DP-14, DP-E4)
func testDeletionIsProtected(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	p := newProtection(s)
	t.Run("ByTheWebhooks", func(t *testing.T) { p.table(t, "webhooks", "carts", func() {}) })
	t.Run("OwnDefinitions", p.ownDefinitions)

	p.applyPolicies()
	t.Run("ByThePolicies", func(t *testing.T) { p.table(t, "policies", "baskets", func() {}) })
	t.Run("Label", p.labelIsForProtectors)
	t.Run("Namespace", p.namespaceWaits)

	defer s.revive()
	t.Run("WithoutAManager", func(t *testing.T) { p.table(t, "policies alone", "bags", s.Manager.Kill) })
}

// protection deletes what may be protected, as an administrator who is none of the protectors.
type protection struct {
	*cloneSetFixture
	user, protector dynamic.Interface
	objects         int
	cascading       string
}

func newProtection(s *cloneSetFixture) *protection {
	s.Helper()
	p := &protection{cloneSetFixture: s}
	for _, client := range []struct {
		of     *dynamic.Interface
		name   string
		groups []string
	}{{&p.user, "administrator", []string{"system:masters"}}, {&p.protector, "protector", []string{"system:masters", protectors}}} {
		config := rest.CopyConfig(s.Control.Config())
		config.Impersonate = rest.ImpersonationConfig{UserName: client.name, Groups: client.groups}
		made, err := dynamic.NewForConfig(config)
		if err != nil {
			s.Fatal(err)
		}
		*client.of = made
	}
	return p
}

// define creates a CRD, and returns when its objects are served. It goes when the test ends.
func (p *protection) define(name, kind, version, label string) {
	p.Helper()
	r := schema.ParseGroupResource(name)
	metadata := map[string]any{"name": name}
	if label != "" {
		metadata["labels"] = map[string]any{deleteProtection: label}
	}
	if r.Group == "apps.kruise.io" { // which is for those that have a proposal
		metadata["annotations"] = map[string]any{"api-approved.kubernetes.io": "unapproved"}
	}
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
		"spec": map[string]any{
			"group": r.Group, "scope": "Namespaced", "names": map[string]any{"plural": r.Resource, "singular": strings.ToLower(kind), "kind": kind},
			"versions": []any{map[string]any{"name": version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}}
	if _, err := p.protector.Resource(definitions).Create(p.Context(), crd, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { p.discard(definitions, "", name) })
	p.AwaitAsking(name+" is served", func() string {
		_, err := p.protector.Resource(r.WithVersion(version)).Namespace(p.Namespace).List(p.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		return ""
	})
}

// discard deletes an object whatever protects it, and whatever it waits for.
func (p *protection) discard(resource schema.GroupVersionResource, namespace, name string) {
	client, finalizers := p.protector.Resource(resource).Namespace(namespace), `"finalizers":null,`
	if resource == definitions { // which waits for its objects
		finalizers = ""
	}
	_, _ = client.Patch(context.Background(), name, types.MergePatchType, []byte(`{"metadata":{`+finalizers+`"labels":{"`+deleteProtection+`":null}}}`), metav1.PatchOptions{})
	_ = client.Delete(context.Background(), name, metav1.DeleteOptions{})
}

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// protectable is a kind that can be protected, and what its webhook is called.
type protectable struct {
	kind     string
	resource schema.GroupVersionResource
	webhook  string
}

var protectables = []protectable{
	{"Namespace", namespaces, "vnamespace.kb.io"},
	{"CustomResourceDefinition", definitions, "vcustomresourcedefinition.kb.io"},
	{"Deployment", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, "vbuiltindeployment.kb.io"},
	{"ReplicaSet", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, "vbuiltinreplicaset.kb.io"},
	{"StatefulSet", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}, "vbuiltinstatefulset.kb.io"},
	{"CloneSet", schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"}, "vcloneset.kb.io"},
	{"StatefulSet", schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "statefulsets"}, "vstatefulset.kb.io"},
	{"StatefulSet", schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "statefulsets"}, "vstatefulset.kb.io"},
	{"UnitedDeployment", schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "uniteddeployments"}, "vuniteddeployment.kb.io"},
	{"Service", schema.GroupVersionResource{Version: "v1", Resource: "services"}, "vservice.kb.io"},
	{"Ingress", schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}, "vingress.kb.io"},
}

// childless are the specs of kinds that have no children, and so nothing that Cascading would protect. (DP-14)
var childless = map[string]map[string]any{
	"Service": {"clusterIP": "None", "ports": []any{map[string]any{"port": int64(80)}}},
	"Ingress": {"defaultBackend": map[string]any{"service": map[string]any{"name": "web", "port": map[string]any{"number": int64(80)}}}},
}

// table deletes objects of all kinds, with all values of the label, in all ways. They are created before something happens, and
// CRDs that are Cascading define what is given.
func (p *protection) table(t *testing.T, by, cascading string, happens func()) {
	p.cascading = cascading
	type row struct {
		name string
		run  func(*testing.T)
	}
	var rows []row
	kinds := protectables
	if by == "policies alone" { // which judge as they do beside a manager
		kinds = testbed.Sample(kinds, 3)
	}
	for _, kind := range kinds {
		if by == "policies alone" && kind.resource.Version == "v1alpha1" && kind.resource.Resource == "statefulsets" {
			continue // which are stored as v1beta1: without the conversion webhook no request reads them
		}
		counted := map[string]string{"Namespace": "active pods", "CustomResourceDefinition": "active CRs"}[kind.kind]
		for _, test := range []struct {
			value    string
			children bool
			want     string // the refusal
		}{
			{"", true, ""},
			{"Always", false, refusesDeletion + "Always"},
			{"Cascading", true, refusesDeletion + "Cascading and " + cmp.Or(counted, "replicas") + " 1>0"},
			{"Cascading", false, ""},
			{"always", true, ""},
		} {
			d := &deletions{p, t, kind}
			namespace, name := d.create(test.value, test.children)
			waits := counted != "" && test.value == "Cascading"
			asked := test.value != "" || kind.resource.Group == "apps.kruise.io" // whose webhooks are asked about everything
			want := test.want
			if childless[kind.kind] != nil && test.value == "Cascading" {
				want = ""
			}
			switch {
			case by == "policies alone" && (waits || want == "" && asked):
				want = "failed calling webhook"
			case want == "":
			case by == "webhooks" || waits:
				want = `admission webhook "` + kind.webhook + `" denied the request: ` + want
			default:
				want = "denied request: " + want
			}
			rows = append(rows, row{fmt.Sprintf("%s %s %s %t", kind.resource.GroupVersion(), kind.kind, test.value, test.children), func(t *testing.T) {
				(&deletions{p, t, kind}).run(namespace, name, want)
			}})
		}
	}
	happens()
	for _, row := range rows {
		t.Run(row.name, row.run)
	}
}

// deletions are those of one kind.
type deletions struct {
	*protection
	t    *testing.T
	kind protectable
}

// run deletes an object, first in a dry run, alone and among others.
func (d *deletions) run(namespace, name, want string) {
	d.t.Helper()
	client := d.user.Resource(d.kind.resource).Namespace(namespace)
	dryRun := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	ways := []struct {
		name    string
		options metav1.DeleteOptions
		many    bool
	}{{"dry run", dryRun, false}, {"dry run of deletecollection", dryRun, true}, {"deletecollection", metav1.DeleteOptions{}, true}, {"delete", metav1.DeleteOptions{}, false}}
	gone := false
	for _, way := range ways {
		if way.many && d.kind.resource == namespaces || gone {
			continue // the API server has no such request; or there is nothing left
		}
		var err error
		if way.many {
			err = client.DeleteCollection(d.t.Context(), way.options, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		} else {
			err = client.Delete(d.t.Context(), name, way.options)
		}
		switch {
		case want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			d.t.Errorf("%s: observed %v, want %q", way.name, err, want)
		case strings.HasPrefix(want, "failed"): // without a verdict
		case want != "" && !apierrors.IsForbidden(err):
			d.t.Errorf("%s: observed %v, want code 403", way.name, err)
		}
		stored, err := client.Get(d.t.Context(), name, metav1.GetOptions{})
		gone = apierrors.IsNotFound(err) || err == nil && stored.GetDeletionTimestamp() != nil
		if deleted := want == "" && way.options.DryRun == nil; err != nil && !gone || gone != deleted {
			d.t.Errorf("%s: gone is %t, want %t; error %v", way.name, gone, deleted, err)
		}
	}
}

// create creates an object, and what it has of children.
func (d *deletions) create(value string, children bool) (namespace, name string) {
	d.t.Helper()
	d.objects++
	name = fmt.Sprintf("%s-%d", d.Namespace, d.objects)
	switch d.kind.resource {
	case namespaces:
		d.apply(d.kind.resource, "", name, value, nil)
		d.inhabit(name, children)
		return "", name
	case definitions:
		return "", d.defineCarts(value, children)
	}
	if spec := childless[d.kind.kind]; spec != nil {
		d.apply(d.kind.resource, d.Namespace, name, value, spec)
		return d.Namespace, name
	}
	replicas := int64(0)
	if children {
		replicas = 1
	}
	d.apply(d.kind.resource, d.Namespace, name, value, map[string]any{
		"replicas": replicas, "selector": map[string]any{"matchLabels": map[string]any{"app": name}}, "serviceName": name,
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": name}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:1"}}}},
	})
	return d.Namespace, name
}

// apply creates an object, which goes with the test.
func (d *deletions) apply(resource schema.GroupVersionResource, namespace, name, value string, spec map[string]any) {
	d.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": resource.GroupVersion().String(), "kind": d.kind.kind}}
	object.SetName(name)
	if value != "" {
		object.SetLabels(map[string]string{deleteProtection: value})
	}
	if spec != nil {
		if resource.Resource != "statefulsets" {
			delete(spec, "serviceName")
		}
		if resource.Resource == "uniteddeployments" { // without subsets, so that it makes nothing
			spec["template"] = map[string]any{"deploymentTemplate": map[string]any{"spec": map[string]any{"template": spec["template"]}}}
		}
		object.Object["spec"] = spec
	}
	if _, err := d.protector.Resource(resource).Namespace(namespace).Create(d.t.Context(), object, metav1.CreateOptions{}); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.discard(resource, namespace, name) })
	d.Cleanup(func() { d.discard(resource, namespace, name) }) // if that has failed, for want of a manager
}

// applyPolicies puts the policies into force that the manager prints, and waits until they are. They go with the test.
func (p *protection) applyPolicies() {
	p.Helper()
	config, err := app.NewConfig(func(string) string { return "" })
	if err != nil {
		p.Fatal(err)
	}
	config.DeletionProtectionLabelGroup = protectors
	manifest, err := app.Policies(config)
	if err != nil {
		p.Fatal(err)
	}
	for document := range strings.SplitSeq(strings.TrimPrefix(string(manifest), "---\n"), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			p.Fatal(err)
		}
		resource := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
		if strings.HasSuffix(object.GetKind(), "Binding") {
			resource.Resource = "validatingadmissionpolicybindings"
		}
		if _, err := p.protector.Resource(resource).Create(p.Context(), object, metav1.CreateOptions{}); err != nil {
			p.Fatal(err)
		}
		p.Cleanup(func() { p.discard(resource, "", object.GetName()) })
	}
	p.awaitDeletionPolicies()
}
