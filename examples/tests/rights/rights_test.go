// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/distribution"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/sidecar"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// step is what a user does, and what a kind asks the API server for because of it.
type step struct {
	// Injected is the name of a container that the last of the objects has to get when it is created. That is waited for.
	Injected string
	// Protected are labels of pods that a budget has to protect first, and Exists is a resource of which an object has to be there.
	Protected map[string]string
	Exists    string
	// Reported are labels of pods that first run the images of the last object's template. From then on their kubelets report the
	// resources of their containers, as those that can change them do.
	Reported map[string]string
	// Objects are applied. A status is applied, too.
	Objects []map[string]any
	// Asks are "VERB RESOURCE" with the group, but for that of podwright. Each has to succeed once, after what the step before asks for.
	Asks []string
}

// Each kind does its work with the rights that it states, and no others.
func TestExactRights(t *testing.T) {
	scripts := readScripts(t)
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	asked := map[string]*requests{}
	for name, kind := range describe {
		asked[name] = &requests{answered: map[string]bool{}, refused: map[string]bool{}}
		run := w.prepare(t, name, asked[name], kind)
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("%s ends with %v", name, err)
			}
		})
	}
	var scripted sync.WaitGroup
	for name := range describe {
		scripted.Go(func() {
			for i, step := range scripts[name] {
				if err := w.play(ctx, step, asked[name]); err != nil {
					t.Errorf("%s, step %d: %v\n%s", name, i+1, err, w.stand(ctx, step))
				}
			}
		})
	}
	scripted.Wait()
	stop()
	running.Wait()
	for name, requests := range asked {
		for _, refused := range slices.Sorted(maps.Keys(requests.refused)) {
			t.Errorf("%s lacks a right: %s", name, refused)
		}
	}
}

func readScripts(t *testing.T) (scripts map[string][]step) {
	t.Helper()
	data, err := os.ReadFile("testdata/scripts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, &scripts); err != nil {
		t.Fatal(err)
	}
	for name := range scripts {
		if describe[name] == nil {
			t.Errorf("there is a script for %s, and no such kind", name)
		}
	}
	for name := range describe {
		if len(scripts[name]) == 0 {
			t.Errorf("there is no script for %s", name)
		}
	}
	return scripts
}

// world is a control plane, as its administrator sees it.
type world struct {
	control *cluster.Cluster
	objects dynamic.Interface
	kube    kubernetes.Interface
	mapper  meta.RESTMapper
	scheme  *runtime.Scheme
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // the first start builds it
	defer cancel()
	control, err := cluster.Start(ctx, cluster.Options{Log: t.Output(), APIServerArgs: []string{"--feature-gates=EvictionRequestAPI=true",
		"--runtime-config=lifecycle.k8s.io/v1alpha1=true", "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"}})
	must(t, err)
	t.Cleanup(func() {
		if err := control.Stop(); err != nil {
			t.Error(err)
		}
	})
	w := &world{control: control, scheme: runtime.NewScheme()}
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme, sidecarv1alpha1.AddToScheme,
		availabilityv1alpha1.AddToScheme, distributionv1alpha1.AddToScheme, lifecyclev1alpha1.AddToScheme} {
		must(t, add(w.scheme))
	}
	w.objects, err = dynamic.NewForConfig(control.Config())
	must(t, err)
	w.kube, err = kubernetes.NewForConfig(control.Config())
	must(t, err)
	must(t, crds.Install(ctx, w.objects, slices.Concat(workloads.CRDs(), sidecar.CRDs(), availability.CRDs(), distribution.CRDs(), lifecycle.CRDs())))
	groups, err := restmapper.GetAPIGroupResources(w.kube.Discovery())
	must(t, err)
	w.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	for _, name := range []string{"kruise-system", distributionv1alpha1.DaemonConfigNamespace} {
		_, err := w.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		must(t, err)
	}
	return w
}

// accounts is the namespace of the accounts.
const accounts = "rights"

// prepare gives a kind its account, and returns what runs it.
func (w *world) prepare(t *testing.T, name string, asked *requests, describe func(*account) podwright.Kind) func(context.Context) error {
	t.Helper()
	config := rest.CopyConfig(w.control.Config())
	config.QPS, config.UserAgent = -1, name
	config.Impersonate.UserName = "system:serviceaccount:" + accounts + ":" + name
	config.Wrap(asked.hear)
	a, err := newAccount(config)
	must(t, err)
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: a.kube.CoreV1().Events("")})
	a.all.Recorders = func(component string) record.EventRecorder {
		return events.NewRecorder(w.scheme, corev1.EventSource{Component: component})
	}
	kind := describe(a)
	must(t, a.failed)
	if kind.Name != name {
		t.Fatalf("the kind of %s is called %s", name, kind.Name)
	}
	set, err := manager.New(manager.Options{Kubernetes: a.kube}, kind)
	must(t, err)
	manifest, err := permissions.Manifest(name, accounts, set.Permissions())
	must(t, err)
	_, err = w.control.Account(t.Context(), manifest)
	must(t, err)
	return func(ctx context.Context) error {
		defer events.Shutdown()
		var beside sync.WaitGroup
		defer beside.Wait()
		for _, run := range a.beside {
			beside.Go(func() {
				if err := run(ctx); err != nil {
					t.Errorf("beside %s: %v", name, err)
				}
			})
		}
		return set.RunControllers(ctx)
	}
}

// play does what a step says, and waits until all has been asked for.
func (w *world) play(ctx context.Context, s step, asked *requests) error {
	if s.Injected != "" {
		if err := w.awaitInjected(ctx, s); err != nil {
			return err
		}
	}
	if err := errors.Join(w.awaitExists(ctx, s.Exists), w.awaitPods(ctx, s.Protected, protected), w.awaitPods(ctx, s.Reported, runs(s)), w.report(ctx, s.Reported)); err != nil {
		return err
	}
	reporting, stop := context.WithCancel(ctx)
	var kubelets sync.WaitGroup
	kubelets.Go(func() { w.keepReporting(reporting, s.Reported) })
	defer kubelets.Wait()
	defer stop()
	for _, object := range s.Objects {
		if err := w.apply(ctx, object); err != nil {
			return err
		}
	}
	return asked.await(ctx, s.Asks)
}

// stand says how the objects of a step stand.
func (w *world) stand(ctx context.Context, s step) string {
	var all []string
	for _, fields := range s.Objects {
		object := &unstructured.Unstructured{Object: fields}
		client, err := w.client(object)
		if err == nil {
			object, err = client.Get(ctx, object.GetName(), metav1.GetOptions{})
		}
		if err != nil {
			all = append(all, err.Error())
			continue
		}
		status, err := json.Marshal(object.Object["status"])
		all = append(all, fmt.Sprintf("%s %s: %s %v", object.GetKind(), object.GetName(), status, err))
	}
	return strings.Join(all, "\n")
}

// awaitInjected waits until the last object would be created with a container.
func (w *world) awaitInjected(ctx context.Context, s step) error {
	object := &unstructured.Unstructured{Object: s.Objects[len(s.Objects)-1]}
	client, err := w.client(object)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		created, err := client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return false, err
		}
		containers, _, err := unstructured.NestedSlice(created.Object, "spec", "containers")
		return slices.ContainsFunc(containers, func(c any) bool { return c.(map[string]any)["name"] == s.Injected }), err
	})
}

// awaitExists waits for an object of a resource of podwright, unless that is empty.
func (w *world) awaitExists(ctx context.Context, resource string) error {
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if resource == "" {
			return true, nil
		}
		list, err := w.objects.Resource(v1alpha1.SchemeGroupVersion.WithResource(resource)).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) > 0, err
	})
}

func (w *world) client(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := w.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return w.objects.Resource(mapping.Resource).Namespace("default"), nil
	}
	return w.objects.Resource(mapping.Resource), nil
}

// apply applies an object as a user does, and its status as an agent or a kubelet does.
func (w *world) apply(ctx context.Context, fields map[string]any) error {
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(fields)}
	client, err := w.client(object)
	if err != nil {
		return err
	}
	options := metav1.ApplyOptions{FieldManager: "user", Force: true}
	status, has := object.Object["status"]
	delete(object.Object, "status")
	if _, err = client.Apply(ctx, object.GetName(), object, options); err != nil || !has {
		return err
	}
	delete(object.Object, "spec")
	object.Object["status"] = status
	_, err = client.ApplyStatus(ctx, object.GetName(), object, options)
	return err
}
