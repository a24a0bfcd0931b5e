// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestEvaluate: precedence, functions, units, types and cuts. (SCI-21, SCI-22, SCI-23, SCI-24)
func TestEvaluate(t *testing.T) {
	for _, c := range []struct{ text, variable, value, want string }{
		// The worked examples.
		{"max(cpu*50%, 50m)", "cpu", "600m", "300m"},
		{"max(cpu*50%, 50m)", "cpu", "150m", "75m"},
		{"max(cpu*50%, 50m)", "cpu", "400m", "200m"},
		{"max(cpu*50%, 50m)", "cpu", "0", "50m"},
		{"0.5*memory + max(0, memory-2Gi)", "memory", "8Gi", "10Gi"},
		{"min(max(max(max(0.5,0.5*cpu),cpu-1.0),cpu-1.0),3.0)", "cpu", "500m", "500m"},
		// Precedence, and what stands left first.
		{"1+2*3", "cpu", "0", "7"},
		{"(1+2)*3", "cpu", "0", "9"},
		{"10-4-3", "cpu", "0", "3"},
		{"100/10/2", "cpu", "0", "5"},
		{"2*3%", "cpu", "0", "60m"},
		{"--2", "cpu", "0", "2"},
		{"-cpu+3", "cpu", "1", "2"},
		{"-2*-3", "cpu", "0", "6"},
		{" max ( 1 , min(2,\t3) ) ", "cpu", "0", "2"},
		// Names in any case.
		{"MAX(CPU, Cpu)", "cpu", "2", "2"},
		{"MEMORY", "memory", "1Gi", "1Gi"},
		// Numbers and units.
		{"1e3", "cpu", "0", "1k"},
		{"1.5e-1", "cpu", "0", "150m"},
		{"1.5Gi", "memory", "0", "1536Mi"},
		{"2k+3M+1G", "memory", "0", "1003002k"},
		{"1Ki+1Mi", "memory", "0", "1025Ki"},
		// Types and cuts.
		{"cpu/3", "cpu", "1", "333m"},
		{"cpu*0.0001", "cpu", "9", "0"},
		{"cpu+0.0009", "cpu", "1", "1"},
		{"memory/3", "memory", "100Gi", "35791394133333m"},
		{"max(cpu, 0.25)", "cpu", "100m", "250m"},
		{"1/3", "cpu", "0", "333m"},
		{"0.5", "memory", "0", "0"}, // whole bytes
		{"1.9", "memory", "0", "1"},
		{"memory*0+0.5", "memory", "5", "500m"}, // a quantity
	} {
		e, err := Parse(c.text, c.variable)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := e.Evaluate(resource.MustParse(c.value), c.variable == "memory")
		if err != nil || got.String() != c.want {
			t.Errorf("%s, if %s is %s: %s, error %v, want %s", c.text, c.variable, c.value, got.String(), err, c.want)
		}
	}
}

// TestParseRefuses names what is wrong, and the place. (SCI-21, SCI-22)
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "unexpected end, at byte 0",
		"1+":                       "unexpected end, at byte 2",
		"1 2":                      `unexpected "2", at byte 2`,
		"(1":                       "expected )",
		"max(1)":                   "max takes two arguments",
		"min(1,2,3)":               "expected )",
		"memory":                   "undefined variable: memory",
		"x":                        "undefined variable: x",
		"avg(1,2)":                 "unknown function: avg",
		"100x":                     `unknown unit "x" in 100x`,
		"100E":                     `unknown unit "E" in 100E`,
		"100n":                     `unknown unit "n"`,
		"1.2.3":                    `"1.2.3" is no number`,
		"1.":                       `"1." is no number`,
		"1e99":                     "is no number",
		"$":                        `unexpected '$'`,
		"cpu%":                     `unexpected "%"`,
		strings.Repeat("(", 100):   "more than 64 parts are nested",
		strings.Repeat("-", 100):   "more than 64 parts are nested",
		strings.Repeat("1+", 1000): "the expression has 2000 bytes, and may have 1024",
	} {
		if _, err := Parse(text, "cpu"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
}

// TestEvaluateRefuses: operations that quantities do not have, and results that no container can have. (SCI-23, SCI-24)
func TestEvaluateRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"cpu*cpu":                 "multiplication of two quantities",
		"cpu*100m":                "multiplication of two quantities",
		"100m/cpu":                "division by quantity",
		"1/cpu":                   "division by quantity",
		"cpu/0":                   "division by zero",
		"1/(2-2)":                 "division by zero",
		"cpu-2":                   "calculation result is negative: -1000m",
		"0-1":                     "calculation result is negative",
		"1e18*1e18":               "a value is beyond 2^60",
		"1e18*100+cpu":            "a value is beyond 2^60",
		"(0-1e18)*100":            "a value is beyond 2^60",
		"1e18/0.01":               "a value is beyond 2^60",
		"1e18+0.5-0.4":            "is too much",
		"1e18+1e18-cpu":           "a value is beyond 2^60",
		"max(1e18*1e18, 0)":       "a value is beyond 2^60",
		"min(cpu*cpu, cpu)":       "multiplication of two quantities",
		"max(0, cpu) * (cpu / 1)": "multiplication of two quantities",
	} {
		e, err := Parse(text, "cpu")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.Evaluate(resource.MustParse("1"), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, error %v, want %q", text, got.String(), err, want)
		}
	}
}

// TestEvaluateBounded: a quantity that takes for ever to compute with is refused.
func TestEvaluateBounded(t *testing.T) {
	e, err := Parse("cpu/2", "cpu")
	if err != nil {
		t.Fatal(err)
	}
	huge := resource.MustParse("1")
	huge.AsDec().SetScale(-1000000000)
	if got, err := e.Evaluate(huge, false); err == nil {
		t.Errorf("no error, and %v", got.Format)
	}
}

// FuzzParse: no text panics, and what is computed is no negative quantity.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"max(cpu*50%, 50m)", "-(1+2)*cpu/3", "1e3Gi", "min(,)", "1e", "1e+", "0x1", "1/3m"} {
		f.Add(text, "500m")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		variable, err := resource.ParseQuantity(value)
		if err != nil {
			return
		}
		e, err := Parse(text, "cpu")
		if err != nil {
			return
		}
		got, err := e.Evaluate(variable, true)
		if err == nil && got.Sign() < 0 {
			t.Errorf("%q, if cpu is %s: %s", text, value, got.String())
		}
	})
}
