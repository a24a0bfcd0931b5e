// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/nodeagent"
)

// network is what a pod is reached by, by the commands of rows.
type network struct {
	ip   string
	mode criv1.NamespaceMode
	// told is the address that the kubelet has told, and address what the agent finds out itself.
	told, address string
}

var networks = map[string]network{
	"pod":     {ip: "127.0.0.1"},
	"no-ip":   {},
	"of-node": {mode: criv1.NamespaceMode_NODE, address: "127.0.0.2"},
	"told":    {mode: criv1.NamespaceMode_NODE, told: "127.0.0.3"},
	"nowhere": {mode: criv1.NamespaceMode_NODE},
}

// probed is the result of a probe that runs once, of the container main of a pod, which was started long ago.
func (n network) probed(t *testing.T, handler corev1.ProbeHandler, ports ...corev1.ContainerPort) string {
	t.Helper()
	annotation, err := json.Marshal(ports)
	if err != nil {
		t.Fatal(err)
	}
	runtime := fakecri.New(nil)
	runtime.AddSandbox(&criv1.PodSandboxStatus{Id: "sandbox", Network: &criv1.PodSandboxNetworkStatus{Ip: n.ip},
		Linux: &criv1.LinuxPodSandboxStatus{Namespaces: &criv1.Namespace{Options: &criv1.NamespaceOption{Network: n.mode}}}})
	id := runtime.Create(fakecri.Container{SandboxID: "sandbox", Status: &criv1.ContainerStatus{
		Metadata: &criv1.ContainerMetadata{Name: "main"}, Annotations: map[string]string{nodeagent.PortsAnnotation: string(annotation)},
		Labels: map[string]string{nodeagent.ContainerNameLabel: "main", nodeagent.PodNameLabel: "web-0", nodeagent.PodNamespaceLabel: "shop", nodeagent.PodUIDLabel: "uid-web-0"},
	}})
	r := &reconciler{options: Options{ControllerOptions: podwright.ControllerOptions{Clock: clock.RealClock{}}, Runtime: agents.Connect(t, runtime)}}
	if r.options.Runtime.NodeAddress = n.told; n.told == "" {
		r.nodeAddress = func() (string, error) {
			if n.address == "" {
				return "", errors.New("no address")
			}
			return n.address, nil
		}
	}
	o := r.run(t.Context(), &Start{ID: idOf("web-0", "probe"), Handler: handler, Timeout: time.Second, InitialDelay: time.Second, ContainerID: id, StartedAt: now.Add(-time.Hour)})
	if o.Result == "" {
		return "none: " + o.Reason
	}
	return strings.TrimSuffix(fmt.Sprint(o.Result, " ", o.Message), " ")
}

// portOf is the port of a server.
func portOf(address net.Addr) int32 { return int32(address.(*net.TCPAddr).Port) }

// TestRuns shows in testdata/runs what servers answer, and which are reached, by the network of the pod: see patches.PlayRows. Its container has the ports web and
// secured, of servers on 127.0.0.1. Two and three are on addresses that end so, and no server is on closed. Paths of servers are /code/200,
// /slow and /headers. (PPM-4.4)
func TestRuns(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	plain, secured := httptest.NewServer(servers(other.URL)), httptest.NewTLSServer(servers(other.URL))
	defer plain.Close()
	defer secured.Close()
	ports := []corev1.ContainerPort{{Name: "web", ContainerPort: portOf(plain.Listener.Addr())}, {Name: "secured", ContainerPort: portOf(secured.Listener.Addr())}}
	for name, address := range map[string]string{"two": "127.0.0.2:0", "three": "127.0.0.3:0", "closed": "127.0.0.2:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if name == "closed" {
			listener.Close()
		}
		defer listener.Close()
		ports = append(ports, corev1.ContainerPort{Name: name, ContainerPort: portOf(listener.Addr())})
	}
	patches.PlayRows(t, "testdata/runs", func() corev1.ProbeHandler { return corev1.ProbeHandler{} }, func(t *testing.T, command string, handler *corev1.ProbeHandler) string {
		return networks[command].probed(t, *handler, ports...)
	})
	if elsewhere != 0 {
		t.Errorf("%d requests to where a redirect leads", elsewhere)
	}
}

// servers answer requests of probes. They redirect to another one.
func servers(other string) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/code/", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/code/"))
		w.Header().Set("Location", other)
		w.WriteHeader(code)
		fmt.Fprint(w, "secret")
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "shop" || r.Header.Get("A") != "b" || r.URL.RawQuery != "q=1" {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	return mux
}

// PPM-4.4: of an answer that never ends no more is read than its beginning.
func TestEndlessAnswer(t *testing.T) {
	written := make(chan int, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		all, part := 0, make([]byte, 1<<16)
		for {
			n, err := w.Write(part)
			if all += n; err != nil {
				written <- all
				return
			}
		}
	}))
	defer server.Close()
	handler := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(portOf(server.Listener.Addr()))}}
	if got := networks["pod"].probed(t, handler); got != "Succeeded" {
		t.Errorf("result %s", got)
	}
	if n := <-written; n > 32<<20 { // what the kernel takes meanwhile
		t.Errorf("%d bytes were taken", n)
	}
}
