// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/kit/webhooks"
	"github.com/podwright/podwright/manager"
)

// render returns what Helm would install of a chart, and the notes.
func render(folder, kubernetes string, values map[string]any) (release.Accessor, error) {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return nil, err
	}
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy, install.ReleaseName, install.Namespace = action.DryRunClient, "podwright", "default"
	if install.KubeVersion, err = common.ParseKubeVersion(kubernetes); err != nil {
		return nil, err
	}
	released, err := install.Run(chart, values)
	if err != nil {
		return nil, err
	}
	return release.NewAccessor(released)
}

func rendered(t *testing.T, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	released, err := render("chart", "v1.37.1", values)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, []byte(released.Manifest()))
}

// released14 returns the objects of the Go values, for the release that the chart names.
func released14(t *testing.T, flags ...string) *Objects {
	t.Helper()
	o := NewOptions()
	o.ManagerFlags, o.NodeAgentFlags = append(o.ManagerFlags, "--release=1.4"), append(o.NodeAgentFlags, "--release=1.4")
	o.ManagerFlags, o.NodeAgentFlags = append(o.ManagerFlags, flags...), append(o.NodeAgentFlags, flags...)
	objects, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// The chart has the objects of the Go values, without and with the agents. CRDs and namespaces alone are told to stay.
func TestChart(t *testing.T) {
	objects := released14(t)
	for _, kept := range slices.Concat(objects.Namespaces, objects.CRDs) {
		annotations := map[string]string{"helm.sh/resource-policy": "keep"}
		for key, value := range kept.GetAnnotations() {
			annotations[key] = value
		}
		kept.SetAnnotations(annotations)
	}
	without := map[string]any{"nodeagent": map[string]any{"enabled": false}}
	if diff := cmp.Diff(byName(t, objects.All()), byName(t, rendered(t, nil))); diff != "" {
		t.Errorf("the chart (-want +got):\n%s", diff)
	}
	objects.NodeAgent = nil
	if diff := cmp.Diff(byName(t, objects.All()), byName(t, rendered(t, without))); diff != "" {
		t.Errorf("without agents (-want +got):\n%s", diff)
	}
}

// Helm never deletes a CRD, nor a namespace. See also TestOnARealControlPlane.
func TestChartKeepsCRDs(t *testing.T) {
	kept := 0
	for _, object := range rendered(t, nil) {
		if kind := object.GetKind(); kind == "CustomResourceDefinition" || kind == "Namespace" {
			kept++
			if object.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
				t.Errorf("%s %s is deleted with the release", kind, object.GetName())
			}
		}
	}
	if want := len(shipped(t).CRDs) + 2; kept != want {
		t.Errorf("%d CRDs and namespaces, want %d", kept, want)
	}
}

func TestChartValues(t *testing.T) {
	objects := rendered(t, map[string]any{
		"tag": "v9", "manager": map[string]any{"image": "a.example/m", "replicas": 3}, "nodeagent": map[string]any{"image": "a.example/n"},
	})
	deployment, daemon := find[appsv1.Deployment](t, objects, "Deployment"), find[appsv1.DaemonSet](t, objects, "DaemonSet")
	if image := deployment.Spec.Template.Spec.Containers[0].Image; image != "a.example/m:v9" || *deployment.Spec.Replicas != 3 {
		t.Errorf("%d managers of %s", *deployment.Spec.Replicas, image)
	}
	if image := daemon.Spec.Template.Spec.Containers[0].Image; image != "a.example/n:v9" {
		t.Errorf("agents of %s", image)
	}
}

// Prometheus reads metrics if the user wants that, and by default no agent answers to the network.
func TestChartMetrics(t *testing.T) {
	objects := rendered(t, map[string]any{
		"nodeagent": map[string]any{"metrics": true},
		"metrics":   map[string]any{"service": true, "podMonitor": true, "labels": map[string]any{"release": "prometheus"}},
	})
	manager, agent := find[appsv1.Deployment](t, objects, "Deployment").Spec.Template, find[appsv1.DaemonSet](t, objects, "DaemonSet").Spec.Template
	named := func(port string) bool {
		return slices.ContainsFunc(manager.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == port })
	}
	monitored := 0
	for _, object := range objects {
		switch name := object.GetName(); {
		case object.GetKind() == "PodMonitor":
			monitored++
			selected, _, _ := unstructured.NestedStringMap(object.Object, "spec", "selector", "matchLabels")
			endpoints, _, _ := unstructured.NestedSlice(object.Object, "spec", "podMetricsEndpoints")
			endpoint, _ := endpoints[0].(map[string]any)
			want := map[string]map[string]string{"podwright-manager": manager.Labels, "podwright-nodeagent": agent.Labels}[name]
			if diff := cmp.Diff(want, selected); diff != "" || object.GetLabels()["release"] != "prometheus" {
				t.Errorf("%s has the labels %v and selects (-want +got):\n%s", name, object.GetLabels(), diff)
			}
			if port, _ := endpoint["port"].(string); name == "podwright-manager" && !named(port) {
				t.Errorf("%s: managers have no port %q", name, port)
			}
			if port := agent.Spec.Containers[0].LivenessProbe.HTTPGet.Port.String(); name == "podwright-nodeagent" && fmt.Sprint(endpoint["portNumber"]) != port {
				t.Errorf("%s: agents answer on %s, not on %v", name, port, endpoint["portNumber"])
			}
		case name == "podwright-manager-metrics":
			monitored++
			service := find[corev1.Service](t, []*unstructured.Unstructured{object}, "Service")
			if diff := cmp.Diff(manager.Labels, service.Spec.Selector); diff != "" || !named(service.Spec.Ports[0].TargetPort.StrVal) {
				t.Errorf("the Service leads to port %v of (-want +got):\n%s", service.Spec.Ports[0].TargetPort, diff)
			}
		}
	}
	if container := agent.Spec.Containers[0]; monitored != 3 || !slices.Contains(container.Args, "--health-addr=:10221") || container.ReadinessProbe.HTTPGet.Host != "" {
		t.Errorf("%d are for Prometheus, arguments %v, asked at %q", monitored, container.Args, container.ReadinessProbe.HTTPGet.Host)
	}
	quiet := find[appsv1.DaemonSet](t, rendered(t, nil), "DaemonSet").Spec.Template.Spec.Containers[0]
	if !slices.Contains(quiet.Args, "--health-addr=127.0.0.1:10221") || quiet.LivenessProbe.HTTPGet.Host != "127.0.0.1" {
		t.Errorf("by default: arguments %v", quiet.Args)
	}
	for _, object := range rendered(t, map[string]any{"metrics": map[string]any{"podMonitor": true}}) {
		if object.GetName() == "podwright-nodeagent" && object.GetKind() == "PodMonitor" {
			t.Error("agents are scraped that do not answer")
		}
	}
}

// Servers that have no ValidatingAdmissionPolicies are refused.
func TestChartForOldServers(t *testing.T) {
	if _, err := render("chart", "v1.29.9", nil); err == nil || !strings.Contains(err.Error(), "1.30") {
		t.Errorf("Kubernetes 1.29 gives %v", err)
	}
}

// The notes name what the manager registers, and the Deployment, if no Job removes it.
func TestChartNotes(t *testing.T) {
	if removed, err := render("chart", "v1.37.1", nil); err != nil || strings.Contains(removed.Notes(), "kubectl delete") {
		t.Errorf("error %v, the notes ask for what a Job does", err)
	}
	released, err := render("chart", "v1.37.1", map[string]any{"removeWebhooks": false})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{manager.MutatingName, manager.ValidatingName, "crd " + webhooks.ConvertedName, "deployment/" + managerName, "-n " + shipped(t).Namespaces[0].GetName()} {
		if !strings.Contains(released.Notes(), name) {
			t.Errorf("the notes do not name %s:\n%s", name, released.Notes())
		}
	}
}

// What looks like a template in an object is none.
func TestToTemplate(t *testing.T) {
	chart := t.TempDir()
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  b: 'x {{ .Values.c }} {{- y }}'\n"
	for file, text := range map[string]string{"Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n", "templates/a.yaml": string(toTemplate([]byte(text)))} {
		file = filepath.Join(chart, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	released, err := render(chart, "v1.37.1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := find[corev1.ConfigMap](t, parse(t, []byte(released.Manifest())), "ConfigMap").Data["b"]; got != "x {{ .Values.c }} {{- y }}" {
		t.Errorf("rendered as %s", got)
	}
}
