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
	"github.com/podwright/podwright/nodeagent"
)

// pod is a pod with a container that has been there for an hour, and an address.
type pod struct {
	*testing.T
	runtime    *fakecri.Runtime
	reconciler *reconciler
}

func newPod(t *testing.T, ip string, mode criv1.NamespaceMode, ports ...corev1.ContainerPort) *pod {
	t.Helper()
	p := &pod{T: t, runtime: fakecri.New(nil)}
	annotation, err := json.Marshal(ports)
	if err != nil {
		t.Fatal(err)
	}
	p.runtime.AddSandbox(&criv1.PodSandboxStatus{Id: "sandbox", Network: &criv1.PodSandboxNetworkStatus{Ip: ip},
		Linux: &criv1.LinuxPodSandboxStatus{Namespaces: &criv1.Namespace{Options: &criv1.NamespaceOption{Network: mode}}}})
	p.runtime.Create(fakecri.Container{SandboxID: "sandbox", Status: &criv1.ContainerStatus{
		Metadata: &criv1.ContainerMetadata{Name: "main"}, Annotations: map[string]string{nodeagent.PortsAnnotation: string(annotation)},
		Labels: map[string]string{nodeagent.ContainerNameLabel: "main", nodeagent.PodNameLabel: "web-0", nodeagent.PodNamespaceLabel: "shop", nodeagent.PodUIDLabel: "uid-web-0"},
	}})
	p.reconciler = &reconciler{options: Options{ControllerOptions: podwright.ControllerOptions{Clock: clock.RealClock{}}, Runtime: agents.Connect(t, p.runtime)}, nodeAddress: func() (string, error) { return "127.0.0.2", nil }}
	return p
}

// probe runs a probe once, of a container that was started long ago.
func (p *pod) probe(handler corev1.ProbeHandler) string {
	p.Helper()
	id := p.runtime.Containers()[0].Status.Id
	o := p.reconciler.run(p.Context(), &Start{ID: idOf("web-0", "probe"), Handler: handler, Timeout: time.Second, InitialDelay: time.Second, ContainerID: id, StartedAt: now.Add(-time.Hour)})
	if o.Result == "" {
		return "none: " + o.Reason
	}
	return strings.TrimSuffix(fmt.Sprint(o.Result, " ", o.Message), " ")
}

// portOf is the port of a server on the loopback interface.
func portOf(t *testing.T, address net.Addr) intstr.IntOrString {
	t.Helper()
	return intstr.FromInt32(int32(address.(*net.TCPAddr).Port))
}

// PPM-4.4: what servers answer.
func TestHTTP(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/code/", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/code/"))
		w.Header().Set("Location", other.URL)
		w.WriteHeader(code)
		fmt.Fprint(w, "secret")
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "shop" || r.Header.Get("A") != "b" || r.URL.RawQuery != "q=1" {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	plain, secured := httptest.NewServer(mux), httptest.NewTLSServer(mux)
	defer plain.Close()
	defer secured.Close()
	port := portOf(t, plain.Listener.Addr())
	get := func(path string, edits ...func(*corev1.HTTPGetAction)) corev1.ProbeHandler {
		action := &corev1.HTTPGetAction{Path: path, Port: port}
		for _, edit := range edits {
			edit(action)
		}
		return corev1.ProbeHandler{HTTPGet: action}
	}
	p := newPod(t, "127.0.0.1", criv1.NamespaceMode_POD, corev1.ContainerPort{Name: "web", ContainerPort: port.IntVal})
	for _, test := range []struct {
		name    string
		handler corev1.ProbeHandler
		want    string
	}{
		{"200", get("/code/200"), "Succeeded"},
		{"399", get("/code/399"), "Succeeded"},
		{"a redirect is not followed", get("/code/302"), "Succeeded"},
		{"400", get("/code/400"), "Failed the server answered with the status code 400"},
		{"500", get("/code/500"), "Failed the server answered with the status code 500"},
		{"too slow", get("/slow"), "Failed the server did not answer within 1s"},
		{"the name of a port, headers and a query", get("/headers?q=1", func(a *corev1.HTTPGetAction) {
			a.Port, a.HTTPHeaders = intstr.FromString("web"), []corev1.HTTPHeader{{Name: "Host", Value: "shop"}, {Name: "A", Value: "b"}}
		}), "Succeeded"},
		{"HTTPS", get("/code/200", func(a *corev1.HTTPGetAction) {
			a.Scheme, a.Port = corev1.URISchemeHTTPS, portOf(t, secured.Listener.Addr())
		}), "Succeeded"},
		{"HTTPS of a server that has none", get("/code/200", func(a *corev1.HTTPGetAction) { a.Scheme = corev1.URISchemeHTTPS }), "Failed there is no server that answers over HTTPS"},
		{"an unknown port", get("/", func(a *corev1.HTTPGetAction) { a.Port = intstr.FromString("grpc") }), `none: httpGet: port "grpc": want a number, or the name of a port of the container`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := p.probe(test.handler); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	if elsewhere != 0 {
		t.Errorf("%d requests to where a redirect leads", elsewhere)
	}
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
	p := newPod(t, "127.0.0.1", criv1.NamespaceMode_POD)
	handler := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: portOf(t, server.Listener.Addr())}}
	if got := p.probe(handler); got != "Succeeded" {
		t.Errorf("result %s", got)
	}
	if n := <-written; n > 32<<20 { // what the kernel takes meanwhile
		t.Errorf("%d bytes were taken", n)
	}
}

// PPM-4.4: a pod in the network of the node is asked at the address of the node, and never on the loopback interface.
func TestLoopbackOfTheNode(t *testing.T) {
	asked := 0
	admin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer admin.Close()
	p := newPod(t, "", criv1.NamespaceMode_NODE)
	port := portOf(t, admin.Listener.Addr())
	for _, handler := range []corev1.ProbeHandler{{HTTPGet: &corev1.HTTPGetAction{Port: port}}, {TCPSocket: &corev1.TCPSocketAction{Port: port}}} {
		if got := p.probe(handler); !strings.HasPrefix(got, "Failed there is no ") || asked != 0 {
			t.Errorf("%s, a server on 127.0.0.1 was asked %d times", got, asked)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.3:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p.reconciler.nodeAddress, p.reconciler.options.Runtime.NodeAddress = nil, "127.0.0.3"
	if got := p.probe(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: portOf(t, listener.Addr())}}); got != "Succeeded" {
		t.Errorf("the address that the kubelet has told: %s", got)
	}
	p.reconciler.nodeAddress = func() (string, error) { return "", errors.New("no address") }
	if got := p.probe(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}); got != "none: no address" {
		t.Errorf("a node without an address: %s", got)
	}
}

// PPM-4.4: connections.
func TestTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	p := newPod(t, "", criv1.NamespaceMode_NODE)
	handler := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: portOf(t, listener.Addr())}}
	if got := p.probe(handler); got != "Succeeded" {
		t.Errorf("a port of a pod in the network of the node: %s", got)
	}
	listener.Close()
	if got := p.probe(handler); got != "Failed there is no connection to the port" {
		t.Errorf("nobody listens: %s", got)
	}
	if got := p.probe(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: handler.TCPSocket.Port}}); got != "Failed there is no server that answers over HTTP" {
		t.Errorf("nobody listens: %s", got)
	}
}

// PPM-4.4: a pod that has no address yet waits.
func TestNoAddress(t *testing.T) {
	p := newPod(t, "", criv1.NamespaceMode_POD)
	for _, handler := range []corev1.ProbeHandler{
		{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}, {TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}},
	} {
		if got := p.probe(handler); got != "none: the runtime has no address of sandbox sandbox" {
			t.Errorf("%+v: %s", handler, got)
		}
	}
}
