// Time Lattigo on one thread: `peer-lattigo WHAT REPEAT` prints one line of JSON. WHAT is bgv, bfv, ckks, rotation, or one of the default
// sets of its bootstrap. Results are compared with plain ones.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/examples"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

const modulus = 65537

// integerLevel is that of the products, of its example set for 128 bits.
const integerLevel = 8

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// timed runs a call once, and then so often that it counts.
func timed[T any](repeat int, call func() T) ([]float64, T) {
	found := call()
	seconds := make([]float64, repeat)
	for i := range seconds {
		start := time.Now()
		found = call()
		seconds[i] = time.Since(start).Seconds()
	}
	return seconds, found
}

func integers(scaleInvariant bool, repeat int) map[string]any {
	params := must(bgv.NewParametersFromLiteral(examples.BGVParamsN15QP880))
	secret := rlwe.NewKeyGenerator(params).GenSecretKeyNew()
	keys := rlwe.NewMemEvaluationKeySet(rlwe.NewKeyGenerator(params).GenRelinearizationKeyNew(secret))
	encoder, eval := bgv.NewEncoder(params), bgv.NewEvaluator(params, keys)
	count := params.MaxSlots()
	x, y := make([]uint64, count), make([]uint64, count)
	for i := range x {
		x[i] = uint64(31*i*i) % modulus
	}
	for i := range y {
		y[i] = x[count-1-i]
	}
	encrypt := func(numbers []uint64) *rlwe.Ciphertext {
		plain := bgv.NewPlaintext(params, integerLevel)
		if err := encoder.Encode(numbers, plain); err != nil {
			panic(err)
		}
		return must(rlwe.NewEncryptor(params, secret).EncryptNew(plain))
	}
	a, b := encrypt(x), encrypt(y)
	seconds, found := timed(repeat, func() *rlwe.Ciphertext {
		if scaleInvariant {
			return must(eval.MulRelinScaleInvariantNew(a, b))
		}
		product := must(eval.MulRelinNew(a, b))
		if err := eval.Rescale(product, product); err != nil {
			panic(err)
		}
		return product
	})
	numbers := make([]uint64, count)
	if err := encoder.Decode(rlwe.NewDecryptor(params, secret).DecryptNew(found), numbers); err != nil {
		panic(err)
	}
	wrong := 0
	for i := range numbers {
		if numbers[i] != x[i]*y[i]%modulus {
			wrong++
		}
	}
	return map[string]any{
		"seconds": seconds, "wrong": wrong, "parameters": fmt.Sprintf("N = 2^15, level %d of QP880", integerLevel),
	}
}

// message has complex numbers whose parts are in [-1, 1].
func message(count int) []complex128 {
	values := make([]complex128, count)
	for i := range values {
		values[i] = complex(math.Sin(float64(7*i+1)), math.Cos(float64(5*i*i)))
	}
	return values
}

// precision is that of the mean and of the worst slot, in bits.
func precision(want, have []complex128) (float64, float64) {
	sum, most := 0.0, 0.0
	for i := range want {
		distance := cmplx.Abs(want[i] - have[i])
		sum += distance
		most = max(most, distance)
	}
	return -math.Log2(sum / float64(len(want))), -math.Log2(most)
}

func leveled(rotation bool, repeat int) map[string]any {
	// The primes of Aglet's levels-15.
	literal := ckks.ParametersLiteral{LogN: 15, LogQ: []int{50}, LogP: []int{45, 45, 45}, LogDefaultScale: 40}
	for range 17 {
		literal.LogQ = append(literal.LogQ, 40)
	}
	params := must(ckks.NewParametersFromLiteral(literal))
	maker := rlwe.NewKeyGenerator(params)
	secret := maker.GenSecretKeyNew()
	turn := maker.GenGaloisKeyNew(params.GaloisElement(1), secret)
	keys := rlwe.NewMemEvaluationKeySet(maker.GenRelinearizationKeyNew(secret), turn)
	encoder, eval := ckks.NewEncoder(params), ckks.NewEvaluator(params, keys)
	x := message(params.MaxSlots())
	plain := ckks.NewPlaintext(params, params.MaxLevel())
	if err := encoder.Encode(x, plain); err != nil {
		panic(err)
	}
	a := must(rlwe.NewEncryptor(params, secret).EncryptNew(plain))
	b := must(rlwe.NewEncryptor(params, secret).EncryptNew(plain))
	seconds, found := timed(repeat, func() *rlwe.Ciphertext {
		if rotation {
			return must(eval.RotateNew(a, 1))
		}
		product := must(eval.MulRelinNew(a, b))
		if err := eval.Rescale(product, product); err != nil {
			panic(err)
		}
		return product
	})
	have := make([]complex128, params.MaxSlots())
	if err := encoder.Decode(rlwe.NewDecryptor(params, secret).DecryptNew(found), have); err != nil {
		panic(err)
	}
	want := make([]complex128, len(x))
	for i := range x {
		want[i] = x[i] * x[i]
		if rotation {
			want[i] = x[(i+1)%len(x)]
		}
	}
	mean, worst := precision(want, have)
	wrong := 0
	if worst < 15 {
		wrong = 1
	}
	return map[string]any{
		"seconds": seconds, "wrong": wrong, "bits_mean": mean, "bits_worst": worst,
		"parameters": fmt.Sprintf("N = 2^15, %d levels, log QP = %.0f", params.MaxLevel(), params.LogQP()),
	}
}

func bootstrap(name string, repeat int) map[string]any {
	sets := map[string]struct {
		scheme  ckks.ParametersLiteral
		circuit bootstrapping.ParametersLiteral
		failure string
	}{
		"N16QP1546H192H32": {
			bootstrapping.N16QP1546H192H32.SchemeParams, bootstrapping.N16QP1546H192H32.BootstrappingParams, "2^-138.7",
		},
		"N16QP1767H32768H32": {
			bootstrapping.N16QP1767H32768H32.SchemeParams, bootstrapping.N16QP1767H32768H32.BootstrappingParams, "2^-138.7",
		},
		"N15QP880H16384H32": {
			bootstrapping.N15QP880H16384H32.SchemeParams, bootstrapping.N15QP880H16384H32.BootstrappingParams, "2^-139.7",
		},
	}
	set := sets[name]
	params := must(ckks.NewParametersFromLiteral(set.scheme))
	circuit := must(bootstrapping.NewParametersFromLiteral(params, set.circuit))
	secret := rlwe.NewKeyGenerator(params).GenSecretKeyNew()
	start := time.Now()
	keys, _, err := circuit.GenEvaluationKeys(secret)
	if err != nil {
		panic(err)
	}
	made := time.Since(start).Seconds()
	eval := must(bootstrapping.NewEvaluator(circuit, keys))
	encoder, x := ckks.NewEncoder(params), message(params.MaxSlots())
	plain := ckks.NewPlaintext(params, 0)
	if err := encoder.Encode(x, plain); err != nil {
		panic(err)
	}
	full := must(rlwe.NewEncryptor(params, secret).EncryptNew(plain))
	seconds, found := timed(repeat, func() *rlwe.Ciphertext { return must(eval.Bootstrap(full.CopyNew())) })
	have := make([]complex128, params.MaxSlots())
	if err := encoder.Decode(rlwe.NewDecryptor(params, secret).DecryptNew(found), have); err != nil {
		panic(err)
	}
	mean, worst := precision(x, have)
	wrong := 0
	if worst < 10 {
		wrong = 1
	}
	return map[string]any{
		"seconds": seconds, "wrong": wrong, "bits_mean": mean, "bits_worst": worst, "levels": found.Level(),
		"parameters": name, "failure": set.failure, "keygen_seconds": made, "key_bytes": keys.BinarySize(),
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	repeat := must(strconv.Atoi(os.Args[2]))
	var found map[string]any
	switch what := os.Args[1]; what {
	case "bgv", "bfv":
		found = integers(what == "bfv", repeat)
	case "ckks", "rotation":
		found = leveled(what == "rotation", repeat)
	default:
		found = bootstrap(what, repeat)
	}
	fmt.Println(string(must(json.Marshal(found))))
}
