// SPDX-License-Identifier: Apache-2.0

package credentialprovider

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"
)

// load makes the plugin "cloud" of a shell script, which finds the request in $request.
func load(t *testing.T, script, configuration string) (*Plugins, string, error) {
	t.Helper()
	folder := t.TempDir()
	program := "#!/bin/sh\nrequest=$(cat)\necho \"$request\" >>" + folder + "/requests\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(folder, "cloud"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "config.yaml")
	if err := os.WriteFile(config, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Load(config, folder)
	return p, folder, err
}

func configuration(more string) string {
	return "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n- name: cloud\n" +
		"  apiVersion: credentialprovider.kubelet.k8s.io/v1\n  defaultCacheDuration: 1h\n  matchImages: ['*.cloud.example', 'cloud.example/team']\n" + more
}

func response(rest string) string {
	return `echo '{"apiVersion":"credentialprovider.kubelet.k8s.io/v1","kind":"CredentialProviderResponse",` + rest + `}'`
}

// users asks for credentials, and returns their users.
func users(t *testing.T, p *Plugins, image string) string {
	t.Helper()
	auths, err := p.Credentials(t.Context(), image)
	if err != nil {
		return "error " + err.Error()
	}
	var users []string
	for _, a := range auths {
		users = append(users, a.GetUsername()+":"+a.GetPassword())
	}
	return strings.Join(users, " ")
}

func TestCredentials(t *testing.T) {
	p, folder, err := load(t, response(`"cacheKeyType":"Registry","auth":{"*.cloud.example":{"username":"any","password":"'$PASSWORD'"},
		"eu.cloud.example/team":{"username":"team","password":"'$1'"},"us.cloud.example":{"username":"us","password":"x"}}`),
		configuration("  args: [argument]\n  env: [{name: PASSWORD, value: secret}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for image, want := range map[string]string{
		"eu.cloud.example/team/web:1": "team:argument any:secret",
		"quay.io/web:1":               "",
		"cloud.example/other:1":       "",
	} {
		if got := users(t, p, image); got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
	requests, err := os.ReadFile(filepath.Join(folder, "requests"))
	want := `{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"eu.cloud.example/team/web:1"}` + "\n"
	if diff := cmp.Diff(want, string(requests)); err != nil || diff != "" {
		t.Errorf("requests, error %v (-want +got):\n%s", err, diff)
	}
}

func TestAnswersAreRemembered(t *testing.T) {
	for _, test := range []struct {
		rest string
		want int // runs
	}{
		{`"cacheKeyType":"Global"`, 2}, {`"cacheKeyType":"Registry"`, 3}, {`"cacheKeyType":"Image"`, 4}, {`"cacheKeyType":"Global","cacheDuration":"0s"`, 5},
	} {
		p, folder, err := load(t, response(test.rest), configuration(""))
		if err != nil {
			t.Fatal(err)
		}
		now := testingclock.NewFakePassiveClock(time.Now())
		p.all[0].clock = now
		ask := func(image string) {
			t.Helper()
			if got := users(t, p, image); got != "" {
				t.Error(got)
			}
		}
		ask("eu.cloud.example/web:1")
		ask("eu.cloud.example/web:2")
		ask("eu.cloud.example/other:1")
		ask("us.cloud.example/web:1")
		now.SetTime(now.Now().Add(time.Hour))
		ask("eu.cloud.example/web:1")
		requests, err := os.ReadFile(filepath.Join(folder, "requests"))
		if runs := strings.Count(string(requests), "\n"); err != nil || runs != test.want {
			t.Errorf("%s: %d runs, want %d; error %v", test.rest, runs, test.want, err)
		}
	}
}

func TestPluginsThatFail(t *testing.T) {
	for script, want := range map[string]string{
		"echo secret >&2; exit 3":          "run it: exit status 3",
		"echo secret":                      "no CredentialProviderResponse in JSON",
		`echo '{"kind":"Secret"}'`:         `answered the kind "Secret"`,
		response(`"cacheKeyType":"Other"`): `answered cacheKeyType "Other"`,
		"head -c 2000000 /dev/zero":        "its answer has more than 1048576 bytes",
	} {
		p, _, err := load(t, script, configuration(""))
		if err != nil {
			t.Fatal(err)
		}
		if got := users(t, p, "eu.cloud.example/web:1"); !strings.HasPrefix(got, "error credential provider cloud: ") || !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// An attempt that ends does not wait for its plugin.
func TestPluginIsStopped(t *testing.T) {
	p, _, err := load(t, "exec sleep 600", configuration(""))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, fmt.Errorf("the attempt is over"))
	defer cancel()
	if _, err := p.Credentials(ctx, "eu.cloud.example/web:1"); err == nil || !strings.Contains(err.Error(), "the attempt is over") {
		t.Errorf("error %v", err)
	}
}

// A plugin that takes its time over one image answers about others meanwhile, and is asked once by those who wait for the same.
func TestPluginIsSlow(t *testing.T) {
	p, folder, err := load(t, `case "$request" in *slow*) until [ -e "${0%/*}/go" ]; do sleep 0.05; done;; esac; `+
		response(`"cacheKeyType":"Image","auth":{"*.cloud.example":{"username":"u","password":"p"}}`), configuration(""))
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithCancelCause(t.Context())
	answers := make(chan string, 2)
	go func() {
		_, err := p.Credentials(impatient, "eu.cloud.example/slow:1")
		answers <- fmt.Sprint(err)
	}()
	asked := func() int {
		requests, _ := os.ReadFile(filepath.Join(folder, "requests"))
		return strings.Count(string(requests), "slow")
	}
	for asked() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if got := users(t, p, "eu.cloud.example/quick:1"); got != "u:p" {
		t.Errorf("while another image is waited for: %q", got)
	}
	cancel(fmt.Errorf("the attempt is over"))
	if got := <-answers; !strings.Contains(got, "the attempt is over") {
		t.Errorf("an attempt that is over ends with %s", got)
	}
	go func() { answers <- users(t, p, "eu.cloud.example/slow:1") }()
	if err := os.WriteFile(filepath.Join(folder, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, n := <-answers, asked(); got != "u:p" || n != 1 {
		t.Errorf("%q after %d runs, want one", got, n)
	}
}

func TestLoad(t *testing.T) {
	for name, test := range map[string]struct{ configuration, want string }{
		"no configuration":  {"a: b", "want a CredentialProviderConfig"},
		"another kind":      {"apiVersion: v1\nkind: Secret\n", "found the kind Secret of v1"},
		"another version":   {strings.Replace(configuration(""), "credentialprovider.kubelet.k8s.io/v1", "x/v1", 1), `apiVersion: found "x/v1"`},
		"no such program":   {strings.Replace(configuration(""), "name: cloud", "name: other", 1), `plugin "other": `},
		"out of the folder": {strings.Replace(configuration(""), "name: cloud", "name: ../cloud", 1), "name: want that of a file"},
		"for no images":     {strings.Replace(configuration(""), "['*.cloud.example', 'cloud.example/team']", "[]", 1), "matchImages: is empty"},
	} {
		if _, _, err := load(t, "", test.configuration); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	for required, want := range map[bool]int{true: 0, false: 1} {
		p, _, err := load(t, "", configuration(fmt.Sprintf("  tokenAttributes: {serviceAccountTokenAudience: x, cacheType: Token, requireServiceAccount: %t}\n", required)))
		if err != nil || len(p.all) != want {
			t.Errorf("a plugin for which a token is required (%t): error %v, %d plugins", required, err, len(p.all))
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "missing"), ""); err == nil {
		t.Error("no error for a file that is missing")
	}
}
