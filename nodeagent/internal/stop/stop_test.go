// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/nodeagent"
)

// web answers requests of hooks and notes them.
type web struct {
	asked []string
	err   error
	takes time.Duration
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	w.asked = append(w.asked, r.URL.String()+" host "+r.Host+" x "+r.Header.Get("X"))
	select {
	case <-time.After(w.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if w.err != nil {
		return nil, w.err
	}
	return &http.Response{StatusCode: http.StatusInternalServerError, Body: io.NopCloser(strings.NewReader("broken"))}, nil
}

// exec plays commands: their first word says what they do.
func exec(ctx context.Context, _ fakecri.Container, command []string) (*criv1.ExecSyncResponse, error) {
	switch command[0] {
	case "wait3":
		time.Sleep(3 * time.Second)
		return &criv1.ExecSyncResponse{}, nil
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "fail":
		return &criv1.ExecSyncResponse{ExitCode: 3, Stdout: []byte("secret "), Stderr: []byte("words")}, nil
	}
	return fakecri.NoCommand(ctx, fakecri.Container{}, command)
}

// TestScripts shows in testdata/stop.txt how containers are stopped:
//
//	stop 30      with a grace period of 30 s and the hook that follows. Further words: ip=10.0.0.7 (the address is known), ports (http is
//	             8080), sandbox=node (the pod is in its network) or sandbox=gone, and servers that are "refused" or "hang". The container
//	             ends-after=7s. most=1m is the longest grace period, the agent-ends=1s after it has begun, and the runtime is "down"
//	known        what annotations of a container say
//	grace 30 4s  how long a container has after a hook that took 4 s, and whether it runs; "none" for no hook
func TestScripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/stop.txt", func(t *testing.T, d *datadriven.TestData) (out string) {
		switch d.Cmd {
		case "known":
			return known(t, d.Input)
		case "grace":
			r := &Request{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{}}}
			_, err := fmt.Sscan(d.CmdArgs[0].Key, &r.GraceSeconds)
			took, _ := time.ParseDuration(d.CmdArgs[1].Key) // none for no hook
			if d.CmdArgs[1].Key == "none" {
				r.PreStop = nil
			}
			return fmt.Sprintf("runs %t, %s are left, error %v\n", r.runsHook(), r.graceAfter(took), err)
		}
		synctest.Test(t, func(t *testing.T) { out = stopped(t, d) })
		return out
	})
}

// known shows what is known of a container.
func known(t *testing.T, text string) string {
	t.Helper()
	c := &criv1.Container{Id: "c1", PodSandboxId: "s1", Labels: map[string]string{
		"io.kubernetes.pod.name": "web-0", "io.kubernetes.pod.namespace": "default",
		"io.kubernetes.pod.uid": "u", "io.kubernetes.container.name": "main",
	}}
	if err := yaml.Unmarshal([]byte(text), &c.Annotations); err != nil {
		t.Fatal(err)
	}
	got, err := Known(c)
	request, _ := json.Marshal(got)
	ports, _ := json.Marshal(got.ports)
	return fmt.Sprintf("%s\nports %s\nerror %v\n", request, ports, err)
}

// stopped shows what is called when a container is stopped, for how long, and what is told of it.
func stopped(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	fake, events, request, w := fakecri.New(nil), &fixture.Recorder{}, &Request{SandboxID: "box"}, &web{}
	fake.Command = exec
	fake.AddSandbox(&criv1.PodSandboxStatus{Id: "box", Network: &criv1.PodSandboxNetworkStatus{Ip: "10.0.0.7"}})
	fake.AddSandbox(&criv1.PodSandboxStatus{Id: "node", Linux: &criv1.LinuxPodSandboxStatus{
		Namespaces: &criv1.Namespace{Options: &criv1.NamespaceOption{Network: criv1.NamespaceMode_NODE}},
	}})
	if err := yaml.UnmarshalStrict([]byte(d.Input), &request.PreStop); err != nil {
		t.Fatal(err)
	}
	request.GraceSeconds = int64(patches.Number(t, d.CmdArgs[0].Key))
	request.ID = fake.Create(fakecri.Container{Status: &criv1.ContainerStatus{Metadata: &criv1.ContainerMetadata{Name: "main"}}})
	s := stopper(t, fake, events, w)
	log := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), log))
	defer cancel()
	for _, arg := range d.CmdArgs[1:] {
		switch arg.Key {
		case "ip":
			request.PodIP = arg.Vals[0]
		case "sandbox":
			request.SandboxID = arg.Vals[0]
		case "ports":
			request.ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
		case "refused":
			w.err = errors.New("refused")
		case "hang":
			w.takes = time.Hour
		case "ends-after":
			fake.SetEndsAfter(request.ID, patches.Duration(t, arg.Vals[0]))
		case "most":
			s.MaxGrace = patches.Duration(t, arg.Vals[0])
		case "agent-ends":
			time.AfterFunc(patches.Duration(t, arg.Vals[0]), cancel)
		case "down":
			fake.SetDown(true)
			s.Recorder = nil // nothing panics without one
		}
	}
	start := time.Now()
	err := s.Stop(ctx, request, "Stopping")
	lines := append(append(fake.Calls(), w.asked...), events.All()...)
	for line := range strings.Lines(log.GetSink().(ktesting.Underlier).GetBuffer().String()) {
		lines = append(lines, "log "+strings.TrimSpace(line))
		if strings.Contains(line, "secret") {
			t.Errorf("the log holds what the hook was called with, or what it printed:\n%s", line)
		}
	}
	if err != nil {
		lines = append(lines, fmt.Sprintf("error, unavailable %t: %v", nodeagent.Unavailable(err), err))
	}
	return strings.Join(append(lines, fmt.Sprint("took ", time.Since(start))), "\n") + "\n"
}

func stopper(t *testing.T, fake *fakecri.Runtime, events *fixture.Recorder, web *web) *Stopper {
	t.Helper()
	return &Stopper{Runtime: agents.Connect(t, fake), Clock: clock.RealClock{}, Recorder: events, http: web, nodeAddress: func() (string, error) { return "10.0.0.1", nil }}
}

// A hook over HTTPS takes the certificate that a container has made for itself.
func TestHookOverHTTPS(t *testing.T) {
	asked := make(chan string, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	fake, events := fakecri.New(nil), &fixture.Recorder{}
	id := fake.Create(fakecri.Container{Status: &criv1.ContainerStatus{}})
	s := stopper(t, fake, events, nil)
	s.http = nil
	err = s.Stop(t.Context(), &Request{ID: id, GraceSeconds: 30, PodIP: address.Hostname(), PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{
		Scheme: corev1.URISchemeHTTPS, Path: "/bye", Port: intstr.FromString(address.Port()),
	}}}, "Stopping")
	if err != nil || len(events.All()) != 1 {
		t.Fatalf("error %v, events %v", err, events.All())
	}
	if path := <-asked; path != "/bye" {
		t.Errorf("asked for %s", path)
	}
}

// endless is the body of an answer that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > 1<<24 {
		return 0, io.EOF // enough has been read
	}
	return len(p), nil
}

func (e *endless) Close() error { return nil }

type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// Of the answer to a hook no more is read than its beginning. (CRR-5.5)
func TestEndlessAnswer(t *testing.T) {
	body := &endless{}
	s := &Stopper{http: answers(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	})}
	err := s.get(t.Context(), &Request{PodIP: "10.0.0.7"}, &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)})
	if err != nil || body.read > 1<<20 {
		t.Errorf("error %v, %d bytes were read", err, body.read)
	}
}
