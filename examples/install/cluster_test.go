// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// installation is a control plane to install in. Its nodes are simulated, so no program runs.
type installation struct {
	*testing.T
	control *cluster.Cluster
	core    kubernetes.Interface
	dynamic dynamic.Interface
}

// The API server takes all objects as they are, and pods are made of them. When the release of the chart is uninstalled, CRDs and what
// users have created stay. The kustomization goes over what is left, and the chart over what others have installed.
func TestOnARealControlPlane(t *testing.T) {
	control, ctx := testbed.Control(t), t.Context()
	i := &installation{t, control, kubernetes.NewForConfigOrDie(control.Config()), dynamic.NewForConfigOrDie(control.Config())}

	i.helmInstall(func(*action.Install) {})
	i.runs()
	sets, err := client.NewForConfig(control.Config())
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "web"}
	created, err := sets.CloneSets("default").Create(ctx, &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: v1alpha1.CloneSetSpec{Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:v1"}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defined := i.definitions()
	i.helmUninstall()
	i.eventually("the manager to be gone", func() error {
		_, err := i.core.AppsV1().Deployments("kruise-system").Get(ctx, managerName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %w", err)
	})
	if diff := cmp.Diff(defined, i.definitions()); diff != "" {
		t.Errorf("CRDs (-before +after uninstalling):\n%s", diff)
	}
	if got, err := sets.CloneSets("default").Get(ctx, "web", metav1.GetOptions{}); err != nil || got.UID != created.UID || got.DeletionTimestamp != nil {
		t.Errorf("the CloneSet after uninstalling: %v, %+v", err, got)
	}

	i.apply(kustomize(t, "kustomize"))
	i.runs()
	i.helmInstall(func(install *action.Install) { install.TakeOwnership, install.ForceConflicts = true, true })
	i.runs()
	if diff := cmp.Diff(defined, i.definitions()); diff != "" {
		t.Errorf("CRDs (-before +after taking them over):\n%s", diff)
	}
}

// helm returns what Helm knows of the cluster.
func (i *installation) helm() *action.Configuration {
	i.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig = ptr.To(i.control.Kubeconfig())
	config := action.NewConfiguration()
	if err := config.Init(flags, "default", "secret"); err != nil {
		i.Fatal(err)
	}
	return config
}

func (i *installation) helmInstall(change func(*action.Install)) {
	i.Helper()
	chart, err := loader.LoadDir("chart")
	if err != nil {
		i.Fatal(err)
	}
	install := action.NewInstall(i.helm())
	install.ReleaseName, install.Namespace, install.WaitStrategy = "podwright", "default", kube.HookOnlyStrategy
	change(install)
	if _, err := install.RunWithContext(i.Context(), chart, nil); err != nil {
		i.Fatal(err)
	}
}

func (i *installation) helmUninstall() {
	i.Helper()
	uninstall := action.NewUninstall(i.helm())
	uninstall.WaitStrategy = kube.HookOnlyStrategy
	uninstall.DisableHooks = true // no program runs here: see TestUninstallOnARealControlPlane
	if _, err := uninstall.Run("podwright"); err != nil {
		i.Fatal(err)
	}
}

// apply does what "kubectl apply --server-side --force-conflicts" does.
func (i *installation) apply(objects []*unstructured.Unstructured) {
	i.Helper()
	for _, object := range objects {
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		options := metav1.PatchOptions{FieldManager: "kubectl", Force: ptr.To(true), FieldValidation: metav1.FieldValidationStrict}
		text, err := object.MarshalJSON()
		if err != nil {
			i.Fatal(err)
		}
		if _, err := i.dynamic.Resource(resource).Namespace(object.GetNamespace()).Patch(i.Context(), object.GetName(), "application/apply-patch+yaml", text, options); err != nil {
			i.Errorf("apply the %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// runs waits until the CRDs are served, and managers and an agent for each node have pods that are ready.
func (i *installation) runs() {
	i.Helper()
	i.eventually("managers and agents", func() error {
		deployment, err := i.core.AppsV1().Deployments("kruise-system").Get(i.Context(), managerName, metav1.GetOptions{})
		if err != nil || deployment.Status.AvailableReplicas != 2 {
			return fmt.Errorf("managers: %v, %+v", err, deployment.Status)
		}
		daemons, err := i.core.AppsV1().DaemonSets("kruise-system").Get(i.Context(), nodeAgentName, metav1.GetOptions{})
		if err != nil || daemons.Status.NumberReady != 3 || daemons.Status.ObservedGeneration != daemons.Generation {
			return fmt.Errorf("agents: %v, %+v", err, daemons.Status)
		}
		return nil
	})
	for _, definition := range shipped(i.T).CRDs {
		resource, kind := crds.Resource, definition.GetName()
		i.eventually(kind+" to be served", func() error {
			got, err := i.dynamic.Resource(resource).Get(i.Context(), kind, metav1.GetOptions{})
			if err != nil {
				return err
			}
			conditions, _, err := unstructured.NestedSlice(got.Object, "status", "conditions")
			for _, condition := range conditions {
				if c := condition.(map[string]any); c["type"] == "Established" && c["status"] == "True" {
					return nil
				}
			}
			return fmt.Errorf("%v: %v", conditions, err)
		})
	}
}

// definitions returns the UIDs of the CRDs.
func (i *installation) definitions() map[string]string {
	i.Helper()
	list, err := i.dynamic.Resource(crds.Resource).List(i.Context(), metav1.ListOptions{})
	if err != nil {
		i.Fatal(err)
	}
	uids := map[string]string{}
	for _, definition := range list.Items {
		uids[definition.GetName()] = string(definition.GetUID())
		if definition.GetDeletionTimestamp() != nil {
			i.Errorf("%s is being deleted", definition.GetName())
		}
	}
	if want := len(shipped(i.T).CRDs); len(uids) != want {
		i.Errorf("%d CRDs, want %d", len(uids), want)
	}
	return uids
}

func (i *installation) eventually(what string, try func() error) {
	i.Helper()
	ctx, cancel := context.WithTimeout(i.Context(), testbed.Patience)
	defer cancel()
	if err := testbed.Repeat(ctx, what, try); err != nil {
		i.Fatal(err)
	}
}
