/** How long the tone is, and after what time the browser's audio is given back, in seconds. */
const TONE_S = 0.2;
const AUDIO_MS = 1_000;

/** Plays a short tone. A browser that has no sound, or does not allow it, stays silent. */
export function playTone(): void {
  try {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    volume.gain.value = 0.05;
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(TONE_S);
    // A tone that is not allowed never ends.
    setTimeout(() => void audio.close(), AUDIO_MS);
  } catch {
    // The reply is seen without it.
  }
}
