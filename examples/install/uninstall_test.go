// SPDX-License-Identifier: Apache-2.0

package install

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"helm.sh/helm/v4/pkg/release"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/examples/kit/crds"
	manager "github.com/podwright/podwright/examples/manager/app"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// hooks returns what Helm creates before an uninstall.
func hooks(t *testing.T, values map[string]any) (objects []*unstructured.Unstructured) {
	t.Helper()
	released, err := render("chart", "v1.37.1", values)
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range released.Hooks() {
		accessor, err := release.NewHookAccessor(hook)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, parse(t, []byte(accessor.Manifest()))...)
	}
	return objects
}

// uninstallation is a cluster in memory, in which a manager runs until it is scaled to 0, and registers again what is removed meanwhile.
type uninstallation struct {
	*testing.T
	core    *fake.Clientset
	dynamic *fakedynamic.FakeDynamicClient
	config  manager.Config
	lists   int // of pods, since the manager was told to end
	ending  bool
}

func newUninstallation(t *testing.T, holder string) *uninstallation {
	t.Helper()
	job := find[batchv1.Job](t, hooks(t, nil), "Job")
	config, err := manager.NewConfig(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse(job.Spec.Template.Spec.Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	deployment := find[appsv1.Deployment](t, rendered(t, nil), "Deployment")
	now, length := metav1.NowMicro(), int32(15)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "podwright-manager-x", Namespace: deployment.Namespace, Labels: deployment.Spec.Template.Labels}}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "kruise-manager", Namespace: deployment.Namespace},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now, LeaseDurationSeconds: &length}}
	u := &uninstallation{T: t, config: config, core: fake.NewClientset(deployment, pod, lease)}
	u.dynamic = fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{crds.Resource: "CustomResourceDefinitionList"},
		converted("statefulsets.apps.kruise.io", "kruise-webhook-service"), converted("sidecarsets.apps.kruise.io", "kruise-webhook-service"),
		converted("daemonsets.apps.kruise.io", "of-another"))
	u.register()
	u.core.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		u.ending = true
		return true, deployment, nil
	})
	u.core.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if u.ending {
			u.lists++
		}
		if u.lists > 3 {
			return true, &corev1.PodList{}, nil
		}
		u.register()
		return false, nil, nil
	})
	return u
}

// register does what a manager does.
func (u *uninstallation) register() {
	for _, object := range []runtime.Object{
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: podwrightmanager.MutatingName}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: podwrightmanager.ValidatingName}},
	} {
		if err := u.core.Tracker().Add(object); err != nil && !apierrors.IsAlreadyExists(err) {
			u.Fatal(err)
		}
	}
}

// registered counts the configurations that there are.
func (u *uninstallation) registered() int {
	mutating, err := u.core.AdmissionregistrationV1().MutatingWebhookConfigurations().List(u.Context(), metav1.ListOptions{})
	if err != nil {
		u.Fatal(err)
	}
	validating, err := u.core.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(u.Context(), metav1.ListOptions{})
	if err != nil {
		u.Fatal(err)
	}
	return len(mutating.Items) + len(validating.Items)
}

// strategies are how the API server converts, by definition.
func (u *uninstallation) strategies() map[string]string {
	list, err := u.dynamic.Resource(crds.Resource).List(u.Context(), metav1.ListOptions{})
	if err != nil {
		u.Fatal(err)
	}
	all := map[string]string{}
	for _, crd := range list.Items {
		all[crd.GetName()], _, _ = unstructured.NestedString(crd.Object, "spec", "conversion", "strategy")
	}
	return all
}

func converted(name, service string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{"clientConfig": map[string]any{
			"service": map[string]any{"namespace": "kruise-system", "name": service, "port": int64(443)}}}}},
	}}
}

// The Job ends the managers, and nothing that they have registered is left. It has the rights for that, and no others.
func TestUninstall(t *testing.T) {
	u := newUninstallation(t, "podwright-manager-x_0a1b")
	if err := manager.RemoveWebhooks(t.Context(), u.core, u.dynamic, u.config); err != nil {
		t.Fatal(err)
	}
	used := map[[4]string]bool{}
	for _, action := range append(u.core.Actions(), u.dynamic.Actions()...) {
		resource, name := action.GetResource().Resource, ""
		if action.GetSubresource() != "" {
			resource += "/" + action.GetSubresource()
		}
		if named, is := action.(interface{ GetName() string }); is {
			name = named.GetName()
		}
		used[[4]string{action.GetVerb(), action.GetResource().Group, resource, name}] = true
	}
	granted := map[[4]string]bool{}
	for _, object := range hooks(t, nil) {
		if kind := object.GetKind(); kind == "Role" || kind == "ClusterRole" {
			for right := range rights(object, object) {
				if named := right[3] != ""; named || right[2] == "pods" {
					granted[right] = true
				}
			}
		}
	}
	for _, name := range []string{"daemonsets.apps.kruise.io", "broadcastjobs.apps.kruise.io", "advancedcronjobs.apps.kruise.io", "imagepulljobs.apps.kruise.io", "imagelistpulljobs.apps.kruise.io", "nodeimages.apps.kruise.io"} {
		used[[4]string{"patch", crds.Resource.Group, crds.Resource.Resource, name}] = true // as the two that led to the Service
	}
	for right := range granted {
		if right[2] == "pods" && right[3] != "" {
			delete(granted, right) // of no name in particular
		}
	}
	if diff := cmp.Diff(used, granted); diff != "" {
		t.Errorf("rights (-used +granted):\n%s", diff)
	}
	if n := u.registered(); n != 0 || !u.ending {
		t.Errorf("%d configurations are left, the managers end: %t", n, u.ending)
	}
	want := map[string]string{"statefulsets.apps.kruise.io": "None", "sidecarsets.apps.kruise.io": "None", "daemonsets.apps.kruise.io": "Webhook"}
	if diff := cmp.Diff(want, u.strategies()); diff != "" {
		t.Errorf("conversions (-want +got):\n%s", diff)
	}
}

// A request that fails ends nothing: the managers are told to end already, and would leave webhooks behind that no process serves.
func TestUninstallGoesOnAfterAFailure(t *testing.T) {
	u := newUninstallation(t, "podwright-manager-x_0a1b")
	failures := 0
	u.core.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if u.ending && failures < 2 {
			failures++
			return true, nil, apierrors.NewTooManyRequests("busy", 1)
		}
		return false, nil, nil
	})
	if err := manager.RemoveWebhooks(t.Context(), u.core, u.dynamic, u.config); err != nil {
		t.Fatal(err)
	}
	if n := u.registered(); n != 0 || failures != 2 {
		t.Errorf("%d configurations are left after %d failures", n, failures)
	}
}

// What another manager has taken over stays.
func TestUninstallBesideAnotherManager(t *testing.T) {
	u := newUninstallation(t, "kruise-controller-manager-y_2c3d")
	if err := manager.RemoveWebhooks(t.Context(), u.core, u.dynamic, u.config); err != nil {
		t.Fatal(err)
	}
	if n := u.registered(); n != 2 || u.ending {
		t.Errorf("%d configurations are left, the managers end: %t", n, u.ending)
	}
}

// The Job runs as what the roles are bound to, as a manager does, and only before an uninstall that asks for it.
func TestUninstallJob(t *testing.T) {
	objects := hooks(t, userValues(t, "imagePullSecrets: [{name: registry}]"))
	job, account := find[batchv1.Job](t, objects, "Job"), find[corev1.ServiceAccount](t, objects, "ServiceAccount")
	pod, deployment := job.Spec.Template.Spec, find[appsv1.Deployment](t, rendered(t, nil), "Deployment")
	for _, subjects := range [][]rbacv1.Subject{find[rbacv1.RoleBinding](t, objects, "RoleBinding").Subjects, find[rbacv1.ClusterRoleBinding](t, objects, "ClusterRoleBinding").Subjects} {
		if subjects[0].Name != account.Name || subjects[0].Namespace != account.Namespace || pod.ServiceAccountName != account.Name || job.Namespace != account.Namespace {
			t.Errorf("bound to %+v, it runs as %s/%s", subjects, job.Namespace, pod.ServiceAccountName)
		}
	}
	if diff := cmp.Diff(deployment.Spec.Template.Spec.SecurityContext, pod.SecurityContext); diff != "" {
		t.Errorf("(-manager +job):\n%s", diff)
	}
	if c := pod.Containers[0]; c.Image != deployment.Spec.Template.Spec.Containers[0].Image || pod.ImagePullSecrets[0].Name != "registry" {
		t.Errorf("it is %+v", pod)
	} else {
		checkContainer(t, &c)
	}
	for _, object := range objects {
		if object.GetAnnotations()["helm.sh/hook"] != "pre-delete" {
			t.Errorf("%s: %v", identity(object), object.GetAnnotations())
		}
	}
	if left := hooks(t, map[string]any{"removeWebhooks": false}); len(left) > 0 {
		t.Errorf("%d objects although the user wants none", len(left))
	}
}
