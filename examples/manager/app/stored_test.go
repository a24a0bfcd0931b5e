// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution"
	distributionconversion "github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/sidecar"
	sidecarconversion "github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/conversion"
)

// A cluster is as OpenKruise 1.9 leaves it: v1beta1 is stored, and the webhook that converts is gone. Nothing asks the manager for
// v1beta1. It adopts what is there without a pod or a revision more or less, starts again, and changes no storage version. (PF-5.3)
func TestStoredV1beta1OnARealControlPlane(t *testing.T) {
	w := newFixture(t)
	w.config.InstallCRDs = true
	w.installStored()
	w.create("v1beta1", "daemonsets", fmt.Sprintf(agent, "nginx:1.27"))
	w.create("v1beta1", "nodeimages", batchImage)
	w.create("v1beta1", "advancedcronjobs", paused)
	w.create("v1beta1", "imagelistpulljobs", "{apiVersion: apps.kruise.io/v1beta1, kind: ImageListPullJob, metadata: {name: list}, "+
		"spec: {images: [busybox], selector: {names: [none]}, completionPolicy: {type: Always}}}")

	running := w.start(w.config)
	w.updated("PF-5.3: a cold start: the controllers read v1alpha1, which the manager itself converts", 3)
	before := w.definitionsInBoth("v1beta1")
	if err := running.stop(); err != nil {
		t.Errorf("an orderly end gives %v", err)
	}

	w.ownAsV1beta1("pods", "controllerrevisions")
	children := w.children()
	w.start(w.config)
	w.takesOver(children)
	if diff := cmp.Diff(before, w.definitionsInBoth("v1beta1")); diff != "" {
		t.Errorf("PF-5.3: a start that installs the definitions changes them (-before +after):\n%s", diff)
	}
	w.keepsModes()
	w.appliesInBothVersions()
	w.appliesEveryKind()
	w.convertsRenamedFields()
	w.migrates()
}

// installStored installs the definitions with v1beta1 stored, converted by a webhook that is not there. That of cron jobs has none, as
// OpenKruise 1.9 has it.
func (w *fixture) installStored() {
	w.Helper()
	service := admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "system", Name: "webhook-service"}}
	definitions := slices.Concat(workloads.CRDs(), sidecar.CRDs(), distribution.CRDs())
	definitions = slices.DeleteFunc(definitions, func(crd *unstructured.Unstructured) bool {
		return !slices.Contains(inBoth, strings.TrimSuffix(crd.GetName(), ".apps.kruise.io"))
	})
	for _, crd := range definitions {
		for _, change := range []func() error{
			func() error { return conversion.ServeV1beta1(crd, service) }, func() error { return conversion.StoreV1beta1(crd) },
			func() error { return sidecarconversion.ServeV1beta1(crd, service) }, func() error { return sidecarconversion.StoreV1beta1(crd) },
			func() error { return distributionconversion.ServeV1beta1(crd, service) }, func() error { return distributionconversion.StoreV1beta1(crd) },
		} {
			if err := change(); err != nil {
				w.Fatal(err)
			}
		}
		if crd.GetName() == "advancedcronjobs.apps.kruise.io" {
			crd.Object["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "None"}
		}
	}
	if err := crds.Install(w.Context(), w.dynamic, definitions); err != nil {
		w.Fatal(err)
	}
}

const (
	batchImage = `
apiVersion: apps.kruise.io/v1beta1
kind: NodeImage
metadata: {name: by-hand, labels: {apps.kruise.io/fake-nodeimage: "true"}}
spec:
  images:
    nginx:
      pullSecrets: [{namespace: kruise-daemon-config, name: registry-x7k2p, mode: batch}]
      tags: [{tag: "1", createdAt: "2099-01-01T00:00:00Z", pullPolicy: {ttlSecondsAfterFinished: 60}}]`
	paused = `
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: sweep}
spec:
  schedule: "0 0 1 1 *"
  paused: true
  template: {broadcastJobTemplate: {spec: {template: {spec: {containers: [{name: main, image: sweep}]}}}}}`
	child = `
apiVersion: apps.kruise.io/v1beta1
kind: BroadcastJob
metadata:
  name: sweep-1735689600
  annotations: {apps.kruise.io/scheduled-at: "2025-01-01T00:00:00Z"}
  ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: AdvancedCronJob, name: sweep, uid: %s, controller: true, blockOwnerDeletion: true}]
spec: {paused: true, template: {spec: {restartPolicy: Never, containers: [{name: main, image: sweep}]}}}`
)

// resourceOf are the children of the DaemonSet.
func resourceOf(name string) schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		"pods": {Version: "v1", Resource: "pods"}, "controllerrevisions": {Group: "apps", Version: "v1", Resource: "controllerrevisions"},
	}[name]
}

// ownAsV1beta1 has references to owners name v1beta1, as those that OpenKruise 1.9 writes.
func (w *fixture) ownAsV1beta1(resources ...string) {
	w.Helper()
	for _, name := range resources {
		client := w.dynamic.Resource(resourceOf(name)).Namespace("default")
		list, err := client.List(w.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) == 0 {
			w.Fatalf("%d %s, error %v", len(list.Items), name, err)
		}
		for i := range list.Items {
			owners := list.Items[i].GetOwnerReferences()
			owners[0].APIVersion = "apps.kruise.io/v1beta1"
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
			if err == nil {
				_, err = client.Patch(w.Context(), list.Items[i].GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
			}
			if err != nil {
				w.Fatal(err)
			}
		}
	}
}

// children are the pods and revisions of the DaemonSet, by name: which they are, and who owns them.
func (w *fixture) children() map[string]string {
	w.Helper()
	all := map[string]string{}
	for _, name := range []string{"pods", "controllerrevisions"} {
		list, err := w.dynamic.Resource(resourceOf(name)).Namespace("default").List(w.Context(), metav1.ListOptions{})
		if err != nil {
			w.Fatal(err)
		}
		for i := range list.Items {
			if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil && owner.Kind == "DaemonSet" {
				all[name+"/"+list.Items[i].GetName()] = fmt.Sprintf("%s of %s", list.Items[i].GetUID(), owner.APIVersion)
			}
		}
	}
	return all
}

// takesOver finds all as it was once the controllers have seen it, and goes on with it.
func (w *fixture) takesOver(children map[string]string) {
	w.Helper()
	w.create("v1beta1", "broadcastjobs", fmt.Sprintf(child, w.get("v1beta1", "advancedcronjobs", "sweep").GetUID()))
	w.eventually("PF-5.3: the job of a cron job, which v1beta1 owns", func() error {
		active, _, _ := unstructured.NestedSlice(w.get("v1beta1", "advancedcronjobs", "sweep").Object, "status", "active")
		if len(active) != 1 {
			return fmt.Errorf("active: %v", active)
		}
		return nil
	})
	patch := func(spec string) {
		w.Helper()
		w.eventually("a change of the DaemonSet", func() error {
			_, err := w.in("v1beta1", "daemonsets").Patch(w.Context(), "agent", types.MergePatchType, []byte(spec), metav1.PatchOptions{})
			return err
		})
	}
	patch(`{"spec":{"burstReplicas":9}}`)
	w.updated("PF-5.3: the DaemonSet after a change of what moves no pod", 3)
	if diff := cmp.Diff(children, w.children()); diff != "" {
		w.Errorf("PF-5.3: pods and revisions (-before +after):\n%s", diff)
	}
	w.expect("v1beta1", "daemonsets", "agent", map[string]any{"partitionedScaling": false}, "spec", "scaleStrategy")

	// The pods that go are of v1beta1: their events reach the DaemonSet.
	patch(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1.28"}]}}}}`)
	w.updated("DS-V3: half of three nodes, rounded up, are held back", 1)
	patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":null}}}}`)
	w.updated("DS-V3: none is held back", 3)
}

// keepsModes writes a NodeImage in v1alpha1, as controllers and agents do. (IMG-1.16)
func (w *fixture) keepsModes() {
	w.Helper()
	_, err := w.in("v1alpha1", "nodeimages").Patch(w.Context(), "by-hand", types.MergePatchType, []byte(`{"status":{"desired":1}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		w.Fatal(err)
	}
	w.eventually("a write in v1alpha1", func() error {
		image := w.get("v1alpha1", "nodeimages", "by-hand")
		tag := map[string]any{"tag": "2", "createdAt": "2099-01-01T00:00:00Z", "pullPolicy": map[string]any{"ttlSecondsAfterFinished": int64(60)}}
		tags, _, _ := unstructured.NestedSlice(image.Object, "spec", "images", "nginx", "tags")
		if err := unstructured.SetNestedSlice(image.Object, append(tags, tag), "spec", "images", "nginx", "tags"); err != nil {
			return err
		}
		_, err := w.in("v1alpha1", "nodeimages").Update(w.Context(), image, metav1.UpdateOptions{})
		return err
	})
	secrets := []any{map[string]any{"namespace": "kruise-daemon-config", "name": "registry-x7k2p", "mode": "batch"}}
	w.expect("v1beta1", "nodeimages", "by-hand", secrets, "spec", "images", "nginx", "pullSecrets")
}

// migrates stores all as v1alpha1 again, as MIGRATION says: it changes the storage version, writes each object again, and removes
// v1beta1 from the status. Then a start without --serve-v1beta1 takes v1beta1 away.
func (w *fixture) migrates() {
	w.Helper()
	definitions := w.dynamic.Resource(crds.Resource)
	for _, resource := range inBoth {
		w.eventually("another storage version", func() error {
			crd, err := definitions.Get(w.Context(), resource+".apps.kruise.io", metav1.GetOptions{})
			if err != nil {
				return err
			}
			versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
			for _, item := range versions {
				version := item.(map[string]any)
				version["storage"] = version["name"] == "v1alpha1"
			}
			if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
				return err
			}
			_, err = definitions.Update(w.Context(), crd, metav1.UpdateOptions{})
			return err
		})
	}
	before := w.get("v1beta1", "daemonsets", "agent").GetResourceVersion()
	w.migrate()
	if w.get("v1beta1", "daemonsets", "agent").GetResourceVersion() == before {
		w.Error("PF-5.3: the DaemonSet has not been written again")
	}
	for _, resource := range inBoth {
		_, err := definitions.Patch(w.Context(), resource+".apps.kruise.io", types.MergePatchType, []byte(`{"status":{"storedVersions":["v1alpha1"]}}`), metav1.PatchOptions{}, "status")
		if err != nil {
			w.Fatal(err)
		}
	}
	w.definitionsInBoth("v1alpha1")
}

// migrate applies the example, and waits until all is written.
func (w *fixture) migrate() {
	w.Helper()
	example, err := os.ReadFile("../../install/storageversionmigration.yaml")
	if err != nil {
		w.Fatal(err)
	}
	migrations := w.dynamic.Resource(schema.GroupVersionResource{Group: "storagemigration.k8s.io", Version: "v1", Resource: "storageversionmigrations"})
	var migrated, names []string
	for document := range strings.SplitSeq(string(example), "\n---\n") {
		created, err := migrations.Create(w.Context(), w.object(document), metav1.CreateOptions{})
		if err != nil {
			w.Fatal(err)
		}
		resource, _, _ := unstructured.NestedString(created.Object, "spec", "resource", "resource")
		migrated, names = append(migrated, resource), append(names, created.GetName())
	}
	for _, name := range names {
		w.eventually("the migration "+name, func() error {
			current, err := migrations.Get(w.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			conditions, _, _ := unstructured.NestedSlice(current.Object, "status", "conditions")
			for _, item := range conditions {
				switch condition := item.(map[string]any); {
				case condition["type"] == "Failed" && condition["status"] == "True":
					w.Fatalf("%s: %v", name, condition)
				case condition["type"] == "Succeeded" && condition["status"] == "True":
					return nil
				}
			}
			return fmt.Errorf("conditions %v", conditions)
		})
	}
	slices.Sort(migrated)
	if diff := cmp.Diff(slices.Sorted(slices.Values(inBoth)), migrated); diff != "" {
		w.Errorf("what the example migrates (-want +got):\n%s", diff)
	}
}

// tag is one that no controller takes away.
const tag = `[{tag: "1", createdAt: "2099-01-01T00:00:00Z", pullPolicy: {ttlSecondsAfterFinished: 60}}]`

// bothVersions are the kinds with two versions that v1beta1 was added to. If v1beta1 alone has a field, beta is about that.
var bothVersions = []applied{
	{
		resource: "daemonsets", alpha: "{template: {metadata: {annotations: {alpha: a}}}}", beta: "{scaleStrategy: {partitionedScaling: true}}",
		base:    "{selector: {matchLabels: {app: both}}, template: {metadata: {labels: {app: both}}, spec: {nodeSelector: {none: here}, containers: [{name: main, image: busybox}]}}}",
		alphaAt: []string{"template", "metadata", "annotations", "alpha"}, betaAt: []string{"scaleStrategy", "partitionedScaling"}, want: [2]any{"a", true},
	},
	{
		resource: "broadcastjobs", alpha: "{template: {metadata: {annotations: {alpha: a}}}}", beta: "{completionPolicy: {activeDeadlineSeconds: 77777}}",
		base:    "{paused: true, completionPolicy: {type: Always}, template: {spec: {nodeSelector: {none: here}, restartPolicy: Never, containers: [{name: main, image: busybox}]}}}",
		alphaAt: []string{"template", "metadata", "annotations", "alpha"}, betaAt: []string{"completionPolicy", "activeDeadlineSeconds"}, want: [2]any{"a", int64(77777)},
	},
	{
		resource: "advancedcronjobs", alpha: "{startingDeadlineSeconds: 7}", beta: "{timeZone: Europe/Berlin}",
		base:    `{schedule: "0 0 1 1 *", paused: true, template: {broadcastJobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: sweep}]}}}}}}`,
		alphaAt: []string{"startingDeadlineSeconds"}, betaAt: []string{"timeZone"}, want: [2]any{int64(7), "Europe/Berlin"},
	},
	{
		resource: "sidecarsets", alpha: "{namespaceSelector: {matchLabels: {alpha: a}}}", beta: "{customVersion: b}",
		base:    "{selector: {matchLabels: {app: none-has-it}}, containers: [{name: applied, image: busybox}]}",
		alphaAt: []string{"namespaceSelector", "matchLabels", "alpha"}, betaAt: []string{"customVersion"}, want: [2]any{"a", "b"},
	},
	{
		resource: "imagepulljobs", alpha: "{sandboxConfig: {labels: {alpha: a}}}", beta: "{sandboxConfig: {annotations: {beta: b}}}",
		base:    "{image: busybox, selector: {names: [none]}, completionPolicy: {type: Never}}",
		alphaAt: []string{"sandboxConfig", "labels", "alpha"}, betaAt: []string{"sandboxConfig", "annotations", "beta"}, want: [2]any{"a", "b"},
	},
	{
		resource: "imagelistpulljobs", alpha: "{sandboxConfig: {labels: {alpha: a}}}", beta: "{sandboxConfig: {annotations: {beta: b}}}",
		base:    "{images: [busybox], selector: {names: [none]}, completionPolicy: {type: Never}}",
		alphaAt: []string{"sandboxConfig", "labels", "alpha"}, betaAt: []string{"sandboxConfig", "annotations", "beta"}, want: [2]any{"a", "b"},
	},
	{
		resource: "nodeimages", alpha: "{images: {alpha: {sandboxConfig: {labels: {alpha: a}}, tags: " + tag + "}}}",
		beta: "{images: {beta: {pullSecrets: [{namespace: shop, name: registry, mode: batch}], tags: " + tag + "}}}", base: "{images: {base: {tags: " + tag + "}}}",
		alphaAt: []string{"images", "alpha", "sandboxConfig", "labels", "alpha"}, betaAt: []string{"images", "beta", "pullSecrets"},
		want: [2]any{"a", []any{map[string]any{"namespace": "shop", "name": "registry", "mode": "batch"}}},
	},
}
