// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	apiproxy "k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	utilexec "k8s.io/utils/exec"
)

// kubelet runs commands in containers: "tee" copies its input to its output, and "fail" ends with 3.
type kubelet struct {
	lock           sync.Mutex
	ran, protocols []string
	// warning is what the API server warns of with every answer; empty for nothing.
	warning string
}

func (k *kubelet) ExecInContainer(_ context.Context, pod, _, container string, command []string, in io.Reader, out, errOut io.WriteCloser,
	_ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	k.note(&k.ran, fmt.Sprintf("%s in %s of %s", strings.Join(command, " "), container, pod))
	switch command[0] {
	case "tee":
		_, err := io.Copy(out, in)
		return err
	case "fail":
		fmt.Fprintln(out, "before")
		fmt.Fprintln(errOut, "it does not work")
		return utilexec.CodeExitError{Err: errors.New("exit status 3"), Code: 3}
	}
	return fmt.Errorf("no command %s", command[0])
}

func (k *kubelet) note(in *[]string, what string) {
	k.lock.Lock()
	defer k.lock.Unlock()
	*in = append(*in, what)
}

// listen serves the cluster over the network, where streams are possible, with a kubelet behind pods/exec. As an API server does, it
// translates websockets to what kubelets speak, and passes SPDY on.
func (c *cluster) listen() *kubelet {
	c.t.Helper()
	k := &kubelet{}
	transport, err := rest.TransportFor(c.server.Config("user"))
	if err != nil {
		c.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: "cluster"})
	}}
	behind := httptest.NewServer(http.HandlerFunc(k.serve))
	c.t.Cleanup(behind.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/exec"):
			if k.warning != "" {
				w.Header().Add("Warning", fmt.Sprintf("299 - %q", k.warning))
			}
			proxy.ServeHTTP(w, r)
		case wsstream.IsWebSocketRequestWithStreamCloseProtocol(r):
			k.note(&k.protocols, "websocket")
			location, err := url.Parse(behind.URL + r.URL.RequestURI())
			if err != nil {
				c.t.Error(err)
				return
			}
			options := execOptions(r)
			apiproxy.NewStreamTranslatorHandler(location, http.DefaultTransport, 0, apiproxy.Options{
				Stdin: options.Stdin, Stdout: options.Stdout, Stderr: options.Stderr, Tty: options.TTY}).ServeHTTP(w, r)
		default:
			k.note(&k.protocols, strings.ToLower(r.Header.Get("Upgrade")))
			k.serve(w, r)
		}
	}))
	c.t.Cleanup(server.Close)
	c.flags.WithClientConfig(kubeconfig{config: &rest.Config{Host: server.URL}})
	return k
}

func execOptions(r *http.Request) *remotecommand.Options {
	has := func(stream string) bool { return r.URL.Query().Get(stream) == "true" }
	return &remotecommand.Options{Stdin: has("stdin"), Stdout: has("stdout"), Stderr: has("stderr"), TTY: has("tty")}
}

// serve runs the command of a request.
func (k *kubelet) serve(w http.ResponseWriter, r *http.Request) {
	pod, query := strings.Split(r.URL.Path, "/")[6], r.URL.Query() // /api/v1/namespaces/default/pods/NAME/exec
	remotecommand.ServeExec(w, r, k, pod, "", query.Get("container"), query["command"], execOptions(r),
		time.Minute, time.Minute, remotecommand.SupportedStreamingProtocols)
}

// exec streams the input and the output of a command, and exits with the exit code of the program. It runs the program in the pod and
// the container that the arguments stand for. It does so by both protocols that API servers speak. (KC-17)
func TestExecStreams(t *testing.T) {
	for _, test := range []struct {
		args, input        string
		ran, out, err, end string
	}{
		{"cloneset/web -i -- tee", "hello\n", "tee in main of web-a", "hello\n", "", ""},
		{"web-a -c envoy-1 -i -- tee -a", strings.Repeat("much ", 100_000), "tee -a in envoy-1 of web-a", strings.Repeat("much ", 100_000), "", ""},
		{"cloneset/web -S envoy -i -- tee", "to the sidecar", "tee in envoy-2 of web-a", "to the sidecar", "", ""},
		{"cloneset/web -- fail", "", "fail in main of web-a", "before\n", "it does not work\n", "command terminated with exit code 3\nexit code 3\n"},
	} {
		for _, protocol := range []string{"websocket", "spdy/3.1"} {
			t.Run(protocol+" "+test.args, func(t *testing.T) {
				t.Setenv("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", fmt.Sprint(protocol == "websocket"))
				c := newCluster(t)
				c.create(`{apiVersion: v1, kind: Pod, metadata: {name: web-a, labels: {app: web}, annotations: {kubectl.kubernetes.io/default-container: main,
				kruise.io/sidecarset-working-hotupgrade-container: '{"envoy":"envoy-2"}'}},
				spec: {containers: [{name: main, image: x}, {name: envoy-1, image: x}, {name: envoy-2, image: x}]}, status: {phase: Running}}`)
				c.create(cloneset("", ""))
				k := c.listen()
				streams, in, out, errOut := genericiooptions.NewTestIOStreams()
				in.WriteString(test.input)
				end := c.execute(streams, append([]string{"exec"}, strings.Fields(test.args)...)...)
				k.lock.Lock()
				defer k.lock.Unlock()
				if len(k.ran) != 1 || k.ran[0] != test.ran || len(k.protocols) != 1 || k.protocols[0] != protocol {
					t.Errorf("it ran %q by %q, want %q", k.ran, k.protocols, test.ran)
				}
				if out.String() != test.out || errOut.String() != test.err || end != test.end {
					t.Errorf("output %.100q, errors %q, end %q; want %.100q, %q, %q", out.String(), errOut.String(), end, test.out, test.err, test.end)
				}
			})
		}
	}
}

// A user who wants to know of warnings gets an exit code.
func TestWarningsAsErrors(t *testing.T) {
	c := newCluster(t)
	c.create(cloneset("", ""))
	c.listen().warning = "clonesets are old"
	c.expect("cloneset.apps.kruise.io/web paused\nWarning: clonesets are old\n", "rollout", "pause", "cloneset/web")
	c.expect("cloneset.apps.kruise.io/web resumed\nWarning: clonesets are old\nerror: 1 warning received\nexit code 1\n", "rollout", "resume", "cloneset/web", "--warnings-as-errors")
}
