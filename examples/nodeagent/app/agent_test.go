// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // as the program has it

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// A container with a variable from a label is reported, and restarted when the
// label changes in an in-place update.
func TestAgent(t *testing.T) {
	s := newSite(t)
	stopRuntime, err := s.runtime.Serve(s.config.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	address, stop := s.run()
	defer stop()
	s.until("ready", func() bool { code, _ := get(t, "http://"+address+"/readyz"); return code == http.StatusOK })

	pods := s.kube.CoreV1().Pods("default")
	if _, err := pods.Create(t.Context(), cloneSetPod(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sync := func() {
		if err := s.kubelet.Sync(t.Context(), "default", "web-0"); err != nil {
			t.Fatal(err)
		}
	}
	patch := func(data string, subresource ...string) {
		if _, err := pods.Patch(t.Context(), "web-0", types.StrategicMergePatchType, []byte(data), metav1.PatchOptions{}, subresource...); err != nil {
			t.Fatal(err)
		}
	}
	reports := func(restarts int32) func() bool {
		return func() bool {
			sync()
			pod, err := pods.Get(t.Context(), "web-0", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var meta v1alpha1.RuntimeContainersMeta
			_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation]), &meta)
			return len(meta.Containers) == 1 && meta.Containers[0].RestartCount == restarts
		}
	}
	s.until("the report", reports(0))
	patch(`{"status":{"conditions":[{"type":"InPlaceUpdateReady","status":"False"}]}}`, "status")
	patch(`{"metadata":{"labels":{"version":"2"}}}`)
	s.until("the restart", reports(1))
	// The server in memory does not read protobuf, so the event gets no further.
	s.until("the event", func() bool {
		return s.api.Count("podwright-nodeagent/kruise-daemon-containermeta")["create events"] > 0
	})

	if code, body := get(t, "http://"+address+"/metrics"); code != http.StatusOK || !strings.Contains(body, `workqueue_depth{name="runtime_container_meta"} 0`) {
		t.Errorf("metrics %d:\n%s", code, body)
	}
	stopRuntime()
	code, body := get(t, "http://"+address+"/readyz?verbose")
	if code != http.StatusServiceUnavailable || !strings.Contains(body, "[+] features\n[+] podInformerSynced\n[+] crrInformerSynced\n[+] nodeImageInformerSynced\n[+] nodePodProbeInformerSynced\n[-] runtime: container runtime unix://"+s.config.Endpoint+" does not answer") {
		t.Errorf("readiness without a runtime: %d %s", code, body)
	}
	if code, _ := get(t, "http://"+address+"/healthz"); code != http.StatusOK {
		t.Errorf("the agent is not alive without a runtime: %d", code)
	}
}

// The images that the NodeImage of the node asks for are pulled.
func TestAgentPullsImages(t *testing.T) {
	s := newSite(t)
	stopRuntime, err := s.runtime.Serve(s.config.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer stopRuntime()
	d, err := distributionclient.NewForConfig(s.api.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.NodeImages().Create(t.Context(), &distributionv1alpha1.NodeImage{
		ObjectMeta: metav1.ObjectMeta{Name: s.config.NodeName},
		Spec: distributionv1alpha1.NodeImageSpec{Images: map[string]distributionv1alpha1.ImageSpec{
			"nginx": {Tags: []distributionv1alpha1.ImageTagSpec{{Tag: "1", CreatedAt: new(metav1.Now())}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, stop := s.run()
	defer stop()
	s.until("the report", func() bool {
		n, err := d.NodeImages().Get(t.Context(), s.config.NodeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return n.Status.Succeeded == 1
	})
	s.until("the event", func() bool {
		return s.api.Count("podwright-nodeagent/kruise-daemon-imagepuller")["create events"] > 0
	})
}

// A closed gate leaves the feature out.
func TestAgentWithoutFeatures(t *testing.T) {
	s := newSite(t)
	stopRuntime, err := s.runtime.Serve(s.config.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer stopRuntime()
	s.config.Features.Gates = "KruiseDaemon=false"
	address, stop := s.run()
	s.until("ready", func() bool { code, _ := get(t, "http://"+address+"/readyz"); return code == http.StatusOK })
	stop()
	if requests := s.api.Requests("podwright-nodeagent"); len(requests) > 0 {
		t.Errorf("requests %v, want none", requests)
	}
}

func TestAgentFails(t *testing.T) {
	cases := map[string]struct {
		change func(*Config)
		want   string
	}{
		"a wrong configuration": {func(c *Config) { c.NodeName = "" }, "wrong configuration"},
		"an address in use":     {func(c *Config) { c.PprofAddr = "256.0.0.1:1" }, "serving pprof on 256.0.0.1:1"},
		"no API server":         {func(c *Config) { c.REST, c.Kubeconfig = nil, "/nowhere" }, "--kubeconfig=/nowhere"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c.change(&s.config)
			if err := Run(t.Context(), s.config); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// An agent does not wait for ever for a runtime that does not answer.
func TestAgentWithoutRuntime(t *testing.T) {
	s := newSite(t)
	a, err := New(s.config)
	if err != nil {
		t.Fatal(err)
	}
	a.patience = 20 * time.Millisecond
	if err := a.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "container runtime unix://"+s.config.Endpoint) {
		t.Errorf("error %v", err)
	}
}
