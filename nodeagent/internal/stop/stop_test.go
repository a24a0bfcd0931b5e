// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
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

func httpGet(action corev1.HTTPGetAction) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{HTTPGet: &action}
}

func command(words ...string) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: words}}
}

func sleep(seconds int64) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}
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

func TestStop(t *testing.T) {
	ports := []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
	port := intstr.FromString("http")
	for _, test := range []struct {
		name    string
		request Request
		web     web
		calls   []string // after those of the events
		asked   []string
		failure string // of the hook, part of the event
		takes   time.Duration
	}{
		{name: "CRR-5.5.5: without a hook", request: Request{GraceSeconds: 30},
			calls: []string{"StopContainer main-1 30s"}},
		{name: "CRR-5.5.3: exec", request: Request{GraceSeconds: 30, PreStop: command("wait3")},
			calls: []string{"ExecSync main-1 wait3", "StopContainer main-1 27s"}, takes: 3 * time.Second},
		{name: "CRR-5.5.4: a grace period of 0 leaves the hook out", request: Request{PreStop: command("wait3")},
			calls: []string{"StopContainer main-1 2s"}},
		{name: "CRR-5.5.3: a hook that fails", request: Request{GraceSeconds: 30, PreStop: command("fail", "--token=secret")},
			calls: []string{"ExecSync main-1 fail --token=secret", "StopContainer main-1 30s"}, failure: "the command ended with exit code 3"},
		{name: "CRR-5.5.3: a command that is not there", request: Request{GraceSeconds: 30, PreStop: command("none")},
			calls: []string{"ExecSync main-1 none", "StopContainer main-1 30s"}, failure: "executable file not found"},
		{name: "CRR-5.5.3: a hook that hangs", request: Request{GraceSeconds: 5, PreStop: command("hang")},
			calls: []string{"ExecSync main-1 hang", "StopContainer main-1 2s"}, failure: "not ended within the grace period of 5s", takes: 5 * time.Second},
		{name: "CRR-5.5.3: httpGet asks the runtime for the address", request: Request{GraceSeconds: 30, ports: ports, PreStop: httpGet(corev1.HTTPGetAction{Path: "/bye?now=1", Port: port})},
			calls: []string{"PodSandboxStatus box", "StopContainer main-1 30s"}, asked: []string{"http://10.0.0.7:8080/bye?now=1 host 10.0.0.7:8080 x "}},
		{name: "httpGet where the address is known", request: Request{GraceSeconds: 30, PodIP: "fd00::7", ports: ports, PreStop: httpGet(corev1.HTTPGetAction{Port: port})},
			calls: []string{"StopContainer main-1 30s"}, asked: []string{"http://[fd00::7]:8080 host [fd00::7]:8080 x "}},
		{name: "httpGet with host, scheme and headers", request: Request{GraceSeconds: 30, PreStop: httpGet(corev1.HTTPGetAction{
			Host: "example.org", Scheme: corev1.URISchemeHTTPS, Path: "bye", Port: intstr.FromInt32(443), HTTPHeaders: []corev1.HTTPHeader{{Name: "x", Value: "1"}, {Name: "host", Value: "web"}}})},
			calls: []string{"StopContainer main-1 30s"}, asked: []string{"https://example.org:443/bye host web x 1"}},
		{name: "httpGet to a pod in the network of the node", request: Request{GraceSeconds: 30, SandboxID: "node", ports: ports, PreStop: httpGet(corev1.HTTPGetAction{Path: "/", Port: port})},
			calls: []string{"PodSandboxStatus node", "StopContainer main-1 30s"}, asked: []string{"http://10.0.0.1:8080/ host 10.0.0.1:8080 x "}},
		{name: "httpGet without an address", request: Request{GraceSeconds: 30, SandboxID: "gone", ports: ports, PreStop: httpGet(corev1.HTTPGetAction{Port: port})},
			calls: []string{"PodSandboxStatus gone", "StopContainer main-1 30s"}, failure: "find the address of the pod"},
		{name: "httpGet to a port that is not there", request: Request{GraceSeconds: 30, PodIP: "10.0.0.7", PreStop: httpGet(corev1.HTTPGetAction{Port: port})},
			calls: []string{"StopContainer main-1 30s"}, failure: `httpGet: port "http": want a number`},
		{name: "httpGet that is refused", request: Request{GraceSeconds: 30, PodIP: "10.0.0.7", ports: ports, PreStop: httpGet(corev1.HTTPGetAction{Path: "/bye?token=secret", Port: port})},
			web: web{err: errors.New("refused")}, calls: []string{"StopContainer main-1 30s"}, asked: []string{"http://10.0.0.7:8080/bye?token=secret host 10.0.0.7:8080 x "}, failure: "GET http://10.0.0.7:8080/bye: refused"},
		{name: "httpGet that hangs", request: Request{GraceSeconds: 9, PodIP: "10.0.0.7", ports: ports, PreStop: httpGet(corev1.HTTPGetAction{Path: "/", Port: port})},
			web: web{takes: time.Hour}, calls: []string{"StopContainer main-1 2s"}, asked: []string{"http://10.0.0.7:8080/ host 10.0.0.7:8080 x "}, failure: "not ended within the grace period of 9s", takes: 9 * time.Second},
		{name: "sleep", request: Request{GraceSeconds: 30, PreStop: sleep(4)},
			calls: []string{"StopContainer main-1 26s"}, takes: 4 * time.Second},
		{name: "sleep without seconds", request: Request{GraceSeconds: 30, PreStop: sleep(0)}, calls: []string{"StopContainer main-1 30s"}},
		{name: "sleep beyond the grace period", request: Request{GraceSeconds: 3, PreStop: sleep(100)},
			calls: []string{"StopContainer main-1 2s"}, failure: "not ended within the grace period of 3s", takes: 3 * time.Second},
		{name: "CRR-5.5.3: tcpSocket is no hook", request: Request{GraceSeconds: 30, PreStop: &corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}},
			calls: []string{"StopContainer main-1 30s"}, failure: "tcpSocket is no hook that can run"},
		{name: "a hook of a later Kubernetes", request: Request{GraceSeconds: 30, PreStop: &corev1.LifecycleHandler{}},
			calls: []string{"StopContainer main-1 30s"}, failure: "unknown kind"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake, events := fakecri.New(nil), &fixture.Recorder{}
				fake.Command = exec
				fake.AddSandbox(&criv1.PodSandboxStatus{Id: "box", Network: &criv1.PodSandboxNetworkStatus{Ip: "10.0.0.7"}})
				fake.AddSandbox(&criv1.PodSandboxStatus{Id: "node", Linux: &criv1.LinuxPodSandboxStatus{
					Namespaces: &criv1.Namespace{Options: &criv1.NamespaceOption{Network: criv1.NamespaceMode_NODE}},
				}})
				test.request.ID = fake.Create(fakecri.Container{Status: &criv1.ContainerStatus{Metadata: &criv1.ContainerMetadata{Name: "main"}}})
				if test.request.SandboxID == "" {
					test.request.SandboxID = "box"
				}
				s := stopper(t, fake, events, &test.web)
				log := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
				start := time.Now()
				if err := s.Stop(klog.NewContext(t.Context(), log), &test.request, "Stopping"); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != test.takes {
					t.Errorf("took %s, want %s", took, test.takes)
				}
				if diff := cmp.Diff(test.calls, fake.Calls()); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.asked, test.web.asked); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				checkFailure(t, events.All(), log, test.failure)
			})
		})
	}
}

func stopper(t *testing.T, fake *fakecri.Runtime, events *fixture.Recorder, web *web) *Stopper {
	t.Helper()
	r, err := nodeagent.NewRuntime(t.Context(), fake.Conn(), "test")
	if err != nil {
		t.Fatal(err)
	}
	fake.ForgetCalls()
	return &Stopper{Runtime: r, Clock: clock.RealClock{}, Recorder: events, http: web, nodeAddress: func() (string, error) { return "10.0.0.1", nil }}
}

// checkFailure wants the event that announces the stop, and one about the hook if that
// has failed. Its words are always the same: the reason is for the log.
func checkFailure(t *testing.T, events []string, logger klog.Logger, failure string) {
	t.Helper()
	want, log := []string{"Normal Killing: Stopping"}, logger.GetSink().(ktesting.Underlier).GetBuffer().String()
	if failure != "" {
		want = append(want, "Warning FailedPreStopHook: preStop hook failed, the container is stopped nevertheless; the log of the node agent says why")
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if !strings.Contains(strings.ReplaceAll(log, `\"`, `"`), failure) || failure == "" && log != "" {
		t.Errorf("want %q in the log:\n%s", failure, log)
	}
	if strings.Contains(log, "secret") {
		t.Errorf("the log holds what the hook was called with, or what it printed:\n%s", log)
	}
}

// A container that takes its time is waited for.
func TestStopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := fakecri.New(nil)
		id := fake.Create(fakecri.Container{EndsAfter: 7 * time.Second, Status: &criv1.ContainerStatus{}})
		s := stopper(t, fake, &fixture.Recorder{}, &web{})
		start := time.Now()
		err := s.Stop(t.Context(), &Request{ID: id, GraceSeconds: 30}, "Stopping")
		if took := time.Since(start); err != nil || took != 7*time.Second {
			t.Errorf("took %s, error %v", took, err)
		}
	})
}

// A grace period of years is cut: a caller that waits for a container holds a worker.
func TestStopIsBounded(t *testing.T) {
	for _, test := range []struct {
		most time.Duration
		want string
	}{{0, "StopContainer container-1 86400s"}, {time.Minute, "StopContainer container-1 60s"}} {
		fake := fakecri.New(nil)
		id := fake.Create(fakecri.Container{Status: &criv1.ContainerStatus{}})
		s := stopper(t, fake, &fixture.Recorder{}, &web{})
		s.MaxGrace = test.most
		if err := s.Stop(t.Context(), &Request{ID: id, GraceSeconds: 315360000}, "Stopping"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{test.want}, fake.Calls()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

// The end of the agent cuts a hook short, and the container is left alone.
func TestStopIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := fakecri.New(nil)
		fake.Command = exec
		id := fake.Create(fakecri.Container{Status: &criv1.ContainerStatus{}})
		s := stopper(t, fake, &fixture.Recorder{}, &web{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.Stop(ctx, &Request{ID: id, GraceSeconds: 30, PreStop: command("hang")}, "Stopping")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff([]string{"ExecSync container-1 hang"}, fake.Calls()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

// A runtime that is down is an error, and nothing panics without a recorder.
func TestStopFails(t *testing.T) {
	fake := fakecri.New(nil)
	s := stopper(t, fake, nil, &web{})
	s.Recorder = nil
	fake.SetDown(true)
	err := s.Stop(t.Context(), &Request{ID: "x"}, "Stopping")
	if !nodeagent.Unavailable(err) {
		t.Errorf("error %v", err)
	}
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
	err = s.Stop(t.Context(), &Request{ID: id, GraceSeconds: 30, PodIP: address.Hostname(), PreStop: httpGet(corev1.HTTPGetAction{
		Scheme: corev1.URISchemeHTTPS, Path: "/bye", Port: intstr.FromString(address.Port()),
	})}, "Stopping")
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
